//! The largest circle of a crate: files of which each imports the next, and the last the first.
//!
//! A file imports the file that defines what it names by `use`, or in full in its code, through as many
//! re-exports as there are; a module that is named itself is its file. Tests are left out, and so are
//! `mod a;`, which says where a module is, and `pub(in a)`, which says who sees an item: neither uses anything.

use crate::house::modules::{Names, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Re-exports of re-exports are followed so far.
const DEEPEST: usize = 16;

/// A file of a circle, and which others of the circle it imports.
pub(super) type Turn = (PathBuf, Vec<PathBuf>);

/// The largest circle below a crate's root; none where no file imports itself by others.
pub(super) fn largest(root: &Path) -> Vec<Turn> {
    let tree = Tree::read(root);
    let edges = edges(&tree);
    let circles = circles(&edges, tree.files.len());
    let largest = circles.into_iter().max_by_key(Vec::len).unwrap_or_default();
    let turn = |file: &usize| {
        let behind = edges.get(file).into_iter().flatten();
        let inside = behind.filter(|other| largest.contains(other));
        let inside = inside.map(|other| tree.files[*other].clone());
        (tree.files[*file].clone(), inside.collect())
    };
    let mut turns: Vec<Turn> = largest.iter().map(turn).collect();
    turns.sort();
    turns
}

/// Which file imports which.
fn edges(tree: &Tree) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut edges = BTreeMap::<usize, BTreeSet<usize>>::new();
    for (place, module) in tree.modules.iter().enumerate() {
        for names in module.said.iter().chain(&module.globs) {
            if let Some(found) = find(tree, place, names, DEEPEST) {
                edges
                    .entry(module.file)
                    .or_default()
                    .insert(found.file(tree));
            }
        }
    }
    for (file, behind) in &mut edges {
        behind.remove(file);
    }
    edges
}

/// What a path means.
#[derive(Clone, Copy, Debug)]
enum Found {
    Module(usize),
    /// An item, by its file.
    Item(usize),
}

impl Found {
    fn file(self, tree: &Tree) -> usize {
        match self {
            Self::Module(module) => tree.modules[module].file,
            Self::Item(file) => file,
        }
    }
}

/// What a path means in a module; `None` where it is of another crate.
fn find(tree: &Tree, module: usize, names: &Names, deepest: usize) -> Option<Found> {
    let (first, rest) = names.split_first()?;
    let mut at = match &**first {
        "crate" => Found::Module(0),
        "self" => Found::Module(module),
        "super" => Found::Module(tree.modules[module].parent),
        // What is neither a module in here nor imported is a crate, or the module's own.
        name if tree.modules[module].children.contains_key(name) => {
            inside(tree, module, name, deepest)?
        }
        name if tree.modules[module].imports.contains_key(name) && names.len() > 1 => {
            inside(tree, module, name, deepest)?
        }
        _ => return None,
    };
    for name in rest {
        let Found::Module(here) = at else {
            return Some(at);
        };
        at = match &**name {
            "self" => at,
            "super" => Found::Module(tree.modules[here].parent),
            name => inside(tree, here, name, deepest)?,
        };
    }
    Some(at)
}

/// What a name means inside a module; `None` where it is another crate's.
fn inside(tree: &Tree, module: usize, name: &str, deepest: usize) -> Option<Found> {
    let here = &tree.modules[module];
    let deeper = deepest.checked_sub(1)?;
    if let Some(child) = here.children.get(name) {
        return Some(Found::Module(*child));
    }
    if here.defined.contains(name) {
        return Some(Found::Item(here.file));
    }
    if let Some(import) = here.imports.get(name) {
        return find(tree, module, import, deeper);
    }
    let by_glob = here.globs.iter().find_map(|glob| {
        let Found::Module(other) = find(tree, module, glob, deeper)? else {
            return None;
        };
        let has = other != module && knows(tree, other, name, deeper);
        has.then(|| inside(tree, other, name, deeper)).flatten()
    });
    by_glob
        .or_else(|| tree.macros.get(name).map(|file| Found::Item(*file)))
        .or(Some(Found::Item(here.file)))
}

/// Says whether a module has a name, of its own or by imports.
fn knows(tree: &Tree, module: usize, name: &str, deepest: usize) -> bool {
    let here = &tree.modules[module];
    let own = here.children.contains_key(name)
        || here.defined.contains(name)
        || here.imports.contains_key(name);
    own || deepest > 0
        && here
            .globs
            .iter()
            .any(|glob| match find(tree, module, glob, deepest - 1) {
                Some(Found::Module(other)) if other != module => {
                    knows(tree, other, name, deepest - 1)
                }
                _ => false,
            })
}

/// The circles of more than one file: strongly connected parts, by Tarjan's walk.
fn circles(edges: &BTreeMap<usize, BTreeSet<usize>>, files: usize) -> Vec<Vec<usize>> {
    let mut walk = Walk {
        edges,
        number: vec![None; files],
        lowest: vec![0; files],
        waiting: Vec::new(),
        next: 0,
        found: Vec::new(),
    };
    for file in 0..files {
        if walk.number[file].is_none() {
            walk.visit(file);
        }
    }
    walk.found.retain(|circle| circle.len() > 1);
    walk.found
}

struct Walk<'a> {
    edges: &'a BTreeMap<usize, BTreeSet<usize>>,
    /// When each file was met.
    number: Vec<Option<usize>>,
    /// The earliest file that each reaches.
    lowest: Vec<usize>,
    /// Files whose circle is not complete.
    waiting: Vec<usize>,
    next: usize,
    found: Vec<Vec<usize>>,
}

impl Walk<'_> {
    fn visit(&mut self, file: usize) {
        let own = self.next;
        (self.number[file], self.lowest[file], self.next) = (Some(own), own, own + 1);
        self.waiting.push(file);
        for other in self.edges.get(&file).into_iter().flatten() {
            match self.number[*other] {
                None => {
                    self.visit(*other);
                    self.lowest[file] = self.lowest[file].min(self.lowest[*other]);
                }
                Some(number) if self.waiting.contains(other) => {
                    self.lowest[file] = self.lowest[file].min(number);
                }
                Some(_) => {}
            }
        }
        if self.lowest[file] == own {
            let begin = self.waiting.iter().position(|waiting| *waiting == file);
            self.found
                .push(self.waiting.split_off(begin.unwrap_or_default()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The largest circle of a crate of these files.
    fn of(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let own = format!("weir-circles-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(own);
        for (file, source) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, source).expect("written");
        }
        let inside = |file: &Path| {
            let file = file.strip_prefix(&folder).expect("inside");
            file.display().to_string()
        };
        let turns = largest(&folder.join("lib.rs"));
        let found = turns.iter().map(|(file, _)| inside(file)).collect();
        fs::remove_dir_all(&folder).expect("removed");
        found
    }

    #[test]
    fn a_facade_that_hands_on_is_in_no_circle() {
        let files = [
            (
                "lib.rs",
                "mod a; mod b; pub use a::A; pub use b::{B as Other, c};",
            ),
            ("a.rs", "use crate::Other; pub struct A(Other);"),
            (
                "b.rs",
                "pub mod c; pub struct B; #[cfg(test)] mod tests { use crate::A; }",
            ),
            ("b/c.rs", "fn f() -> super::B { super::B }"),
        ];
        assert!(of("facade", &files).is_empty());
    }

    #[test]
    fn a_circle_by_re_exports_globs_and_paths_in_code_is_found() {
        let files = [
            ("lib.rs", "mod a; mod b; mod d; mod e; pub use b::*;"),
            (
                "a.rs",
                "use crate::{self as all, B}; pub struct A; fn f(_: B) {}",
            ),
            ("b.rs", "mod c; pub use c::B;"),
            (
                "b/c.rs",
                "pub struct B; impl B { fn f() { crate::d::f(); } }",
            ),
            ("d.rs", "pub fn f() { super::a::A::g() }"),
            ("e.rs", "use super::d::f;"),
        ];
        let found = of("found", &files);
        assert!(
            ["a.rs", "b/c.rs", "d.rs"]
                .iter()
                .all(|file| found.iter().any(|has| has == file))
        );
        assert!(!found.iter().any(|file| file == "e.rs"));
    }

    #[test]
    fn who_sees_an_item_is_not_imported() {
        let files = [
            ("lib.rs", "mod a; pub struct A;"),
            ("a.rs", "mod b; use b::B;"),
            ("a/b.rs", "pub(in crate::a) struct B(pub(in crate::a) u8);"),
        ];
        assert!(of("seen", &files).is_empty());
        let files = [
            files[0],
            files[1],
            ("a/b.rs", "pub(in crate::a) struct B(crate::a::C);"),
        ];
        assert_eq!(of("used", &files), ["a/b.rs", "a.rs"]);
    }

    #[test]
    fn this_crate_is_read_whole() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let tree = Tree::read(&src.join("main.rs"));
        let mut files = Vec::new();
        crate::orphans::rust_files(&src, &mut files);
        let mut read = tree.files;
        read.sort();
        assert_eq!(read, files);
    }
}
