//! `require`, `require_relative`, `load` and `autoload`.

use knowing_model::Range;
use knowing_model::facts::{Import, ImportKind, Str};

use super::reader::{Context, Reader};
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    pub(super) fn required(&mut self, text: &str, arguments: &[Node], cx: Context) {
        match text {
            "require" | "load" | "require_dependency" => {
                if let Some((at, path)) = self.path_argument(arguments.first()) {
                    self.note_import(at, &path, 0, ImportKind::Wildcard, cx);
                }
            }
            "require_relative" => {
                if let Some((at, path)) = self.path_argument(arguments.first()) {
                    self.note_import(at, &path, 1, ImportKind::Wildcard, cx);
                }
            }
            "autoload" => {
                let Some(first) = arguments.first() else { return };
                let Some(name) = self.literal_name(*first) else { return };
                let path = self.path_argument(arguments.get(1)).map(|it| it.1).unwrap_or_default();
                let name = self.b.intern(name);
                self.note_import(*first, &path, 0, ImportKind::Member { name, alias: name }, cx);
            }
            _ => {}
        }
    }

    fn path_argument(&self, argument: Option<&Node>) -> Option<(Node, String)> {
        let argument = *argument?;
        let text = self.literal_name(argument)?;
        Some((argument, text.trim_end_matches(".rb").to_owned()))
    }

    fn note_import(&mut self, at: Node, path: &str, level: u8, kind: ImportKind, cx: Context) {
        let module: Vec<Str> =
            path.split('/').filter(|it| !it.is_empty() && *it != ".").map(|it| self.b.intern(it)).collect();
        let visible = Range { from: self.b.tree.start(at), to: self.b.source.len() };
        let position = self.b.tree.position(at);
        self.b.import(Import { decl: cx.decl, module, level, kind, reexport: false, visible, position });
    }
}
