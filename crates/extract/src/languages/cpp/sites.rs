//! Environment variables that are read and processes that are started, by functions of the C library that the file
//! does not declare itself.

use knowing_model::Position;
use knowing_model::facts::{DeclId, Site, SiteKind, Str};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;

pub(super) struct MaybeSite {
    function: Str,
    site: Site,
}

/// What the function does, and which argument names it.
fn effect(name: &[u8]) -> Option<(SiteKind, usize)> {
    Some(match name {
        b"getenv" | b"secure_getenv" | b"_wgetenv" => (SiteKind::ReadsEnv, 0),
        b"system" | b"popen" | b"_popen" | b"execl" | b"execlp" | b"execle" | b"execv" | b"execvp"
        | b"execve" | b"execvpe" | b"_spawnl" | b"_spawnv" | b"WinExec" => (SiteKind::StartsProcess, 0),
        b"posix_spawn" | b"posix_spawnp" | b"_spawnlp" | b"_spawnvp" => (SiteKind::StartsProcess, 1),
        b"CreateProcessA" | b"CreateProcessW" | b"CreateProcess" => (SiteKind::StartsProcess, 1),
        _ => return None,
    })
}

impl Reader<'_, '_> {
    /// The file may declare such a function after the call, so that it is decided at the end.
    pub(super) fn maybe_site(&mut self, call: Node, function: Node, cx: Context) {
        let is_plain = match self.kind(function) {
            Kind::Identifier => true,
            Kind::QualifiedIdentifier => {
                let text = self.b.bytes(function);
                text.starts_with(b"std::") || text.starts_with(b"::")
            }
            _ => false,
        };
        let last = self.last_name(function);
        let Some((kind, place)) = effect(self.b.bytes(last)).filter(|_| is_plain) else { return };
        let list = self.child(call, Field::Arguments);
        let argument = list.and_then(|it| self.children(it).nth(place));
        let name = argument.and_then(|it| self.literal(it, kind));
        let (decl, position): (Option<DeclId>, Position) = (cx.decl, self.b.tree.position(last));
        let function = self.b.name(last);
        self.b.count();
        self.sites.push(MaybeSite { function, site: Site { decl, kind, name, position } });
    }

    /// The text of a string; of a command its first word, without directories.
    fn literal(&mut self, node: Node, kind: SiteKind) -> Option<Str> {
        if self.kind(node) != Kind::StringLiteral {
            return None;
        }
        let text = self.b.text(node);
        let inside = text.strip_prefix('"')?.strip_suffix('"')?;
        let name = match kind {
            SiteKind::ReadsEnv => inside,
            SiteKind::StartsProcess => {
                let word = inside.split_whitespace().next()?;
                word.rsplit('/').next().filter(|it| !it.is_empty() && !it.contains('%'))?
            }
        };
        Some(self.b.intern_name(name.into()))
    }

    pub(super) fn finish_sites(&mut self) {
        for MaybeSite { function, site } in std::mem::take(&mut self.sites) {
            let is_own = self.b.facts.decls.iter().any(|it| it.name == function && it.kind.is_callable());
            if !is_own {
                self.b.facts.sites.push(site);
            }
        }
    }
}
