//! `import` and `from ... import`, wherever they stand.

use knowing_model::Range;
use knowing_model::facts::{Import, ImportKind, Str};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::Bound;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn import(&mut self, node: Node, cx: Context) -> Step<Context> {
        for item in self.children(node) {
            let (path, alias) = self.aliased(item);
            let Some(path) = path else { continue };
            let module = self.segments(path);
            let dotted = self.dotted(&module);
            let (kind, bound) = match alias {
                Some(alias) => (ImportKind::Module { alias }, alias),
                None => match module[..] {
                    [only] => (ImportKind::Module { alias: only }, only),
                    [first, ..] => (ImportKind::TopModule, first),
                    [] => continue,
                },
            };
            let meaning = if kind == ImportKind::TopModule { self.b.str(bound).to_owned() } else { dotted };
            self.note_import(item, module, 0, kind, Some((bound, meaning)), cx);
        }
        Step::Over
    }

    pub(super) fn import_from(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(from) = self.child(node, Field::ModuleName) else { return Step::Over };
        let (module, level) = self.module_path(from);
        if level == 0 && module.len() == 1 && self.b.str(module[0]) == "__future__" {
            return Step::Over;
        }
        let dotted = self.dotted(&module);
        for item in self.children(node) {
            if item == from {
                continue;
            }
            if self.kind(item) == Kind::WildcardImport {
                self.note_import(item, module.clone(), level, ImportKind::Wildcard, None, cx);
                continue;
            }
            let (path, alias) = self.aliased(item);
            let Some(name) = path.map(|it| self.b.name(it)) else { continue };
            let bound = alias.unwrap_or(name);
            let meaning = format!("{}{dotted}.{}", ".".repeat(usize::from(level)), self.b.str(name));
            let kind = ImportKind::Member { name, alias: bound };
            self.note_import(item, module.clone(), level, kind, Some((bound, meaning)), cx);
        }
        Step::Over
    }

    fn note_import(
        &mut self,
        item: Node,
        module: Vec<Str>,
        level: u8,
        kind: ImportKind,
        bound: Option<(Str, String)>,
        cx: Context,
    ) {
        let within = self.scopes.at(cx.scope);
        if let Some((name, meaning)) = bound {
            self.scopes.bind(cx.scope, name, Bound::Symbol);
            self.imported.insert(name, meaning);
        }
        // In a stub, `import x as x` and `from m import x as x` mean that `x` is offered.
        let reexport = match kind {
            ImportKind::Member { name, alias } => name == alias && self.child(item, Field::Alias).is_some(),
            ImportKind::Module { alias } => {
                module.last() == Some(&alias) && self.child(item, Field::Alias).is_some()
            }
            _ => false,
        };
        let visible = Range { from: self.b.tree.start(item), to: within.end };
        let position = self.b.tree.position(item);
        self.b.import(Import { decl: cx.decl, module, level, kind, reexport, visible, position });
    }

    /// The path and the alias of `a.b as c`.
    fn aliased(&mut self, item: Node) -> (Option<Node>, Option<Str>) {
        match self.kind(item) {
            Kind::DottedName => (Some(item), None),
            Kind::AliasedImport => {
                let alias = self.child(item, Field::Alias).map(|it| self.b.name(it));
                (self.child(item, Field::Name), alias)
            }
            _ => (None, None),
        }
    }

    /// A module path and the dots before it.
    fn module_path(&mut self, node: Node) -> (Vec<Str>, u8) {
        if self.kind(node) != Kind::RelativeImport {
            return (self.segments(node), 0);
        }
        let mut module = Vec::new();
        let mut level = 0;
        for part in self.children(node) {
            match self.kind(part) {
                Kind::ImportPrefix => {
                    let n_dots = self.b.bytes(part).iter().filter(|&&it| it == b'.').count();
                    level = u8::try_from(n_dots).unwrap_or(u8::MAX);
                }
                Kind::DottedName => module = self.segments(part),
                _ => {}
            }
        }
        (module, level)
    }

    fn segments(&mut self, dotted: Node) -> Vec<Str> {
        let parts: Vec<Node> = self.children(dotted).collect();
        parts.into_iter().map(|it| self.b.name(it)).collect()
    }

    fn dotted(&self, module: &[Str]) -> String {
        module.iter().map(|it| self.b.str(*it)).collect::<Vec<_>>().join(".")
    }
}
