//! Functions that mount a router which they are handed, behind a path that may be handed over, too.
//!
//! ```text
//! func (s *Server) Mount(path string, h http.Handler) { s.router.Mount(path, h) }     what takes its parameters
//! server.Mount(paths.API, newAPI())                                               what newAPI gives stands behind /api
//! ```

use knowing_model::facts::{DeclId, Expr, ExprId, HOLE, Mount, ParameterKind, Router};
use rustc_hash::FxHashMap;

use super::{Mounts, filled, key};
use crate::evaluate::{Evaluator, Frame};
use crate::value::Value;
use crate::world::{Def, World};

/// By function and parameter: the mounts of that parameter, by file and place.
type Takers = FxHashMap<(Def, u8), Vec<(u32, usize)>>;

pub(super) fn mount(world: &World<'_>, mounts: &mut Mounts, files: &[u32]) {
    let mut takers: Takers = FxHashMap::default();
    for file in files {
        for (place, mount) in world.found_in(*file).mounts.iter().enumerate() {
            if let Router::Parameter(of, index) = mount.child
                && !matches!(mount.parent, Some(Router::Handed(..)))
            {
                takers.entry((world.def(*file, of), index)).or_default().push((*file, place));
            }
        }
    }
    if takers.is_empty() {
        return;
    }
    for file in files {
        let mut ev = Evaluator::new(world);
        for mount in &world.found_in(*file).mounts {
            let Some(Router::Handed(callee, index)) = mount.parent else { continue };
            ev.begin();
            let taker = match ev.callee(Frame::of_file(*file), mount.decl, callee) {
                Value::Def(def) => def,
                Value::Overloads(all) if all.len() == 1 => all[0],
                _ => continue,
            };
            for (of, place) in takers.get(&(taker, index)).into_iter().flatten() {
                let taking = &world.found_in(*of).mounts[*place];
                let Some(prefix) = prefix(&mut ev, (*of, taking), (*file, mount)) else { continue };
                let parent = taking.parent.and_then(|it| key(&mut ev, *of, taking.decl, it));
                for child in mounts.children(&mut ev, *file, mount) {
                    mounts.put(child, parent, &prefix, taking.replaces);
                }
            }
        }
    }
}

/// The prefix that a function mounts at, with the paths that a caller hands over.
fn prefix(
    ev: &mut Evaluator<'_>,
    (of, taking): (u32, &Mount),
    (file, handed): (u32, &Mount),
) -> Option<String> {
    let facts = ev.world.found_in(of);
    let mut out = String::new();
    for (at, part) in facts.text(taking.prefix).split(HOLE).enumerate() {
        let parameter = match at % 2 {
            0 => None,
            _ => part.parse().ok().and_then(|it| parameter(ev.world, of, taking.decl?, ExprId(it))),
        };
        match parameter {
            Some(index) => {
                let (_, text) = handed.handed.iter().find(|it| it.0 == index)?;
                let text = ev.world.found_in(file).text(*text);
                out.push_str(&filled(ev, file, handed.decl, text)?);
            }
            None if at % 2 == 0 => out.push_str(part),
            None => out.extend([HOLE.to_string().as_str(), part, HOLE.to_string().as_str()]),
        }
    }
    filled(ev, of, taking.decl, &out)
}

/// The parameter of a function that an expression names.
fn parameter(world: &World<'_>, file: u32, decl: DeclId, expr: ExprId) -> Option<u8> {
    let facts = world.found_in(file);
    let Expr::Name { name, .. } = facts.expr(expr) else { return None };
    let mut plain = facts.decl(decl).parameters.iter().filter(|it| it.kind != ParameterKind::Receiver);
    u8::try_from(plain.position(|it| it.name == name)?).ok()
}
