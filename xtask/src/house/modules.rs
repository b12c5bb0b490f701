//! The modules of a crate without its tests: which file each is in, what it defines, what it names.
//!
//! What it deliberately does not do: it expands no macros, so that a module that only a macro names is not there.

use crate::house::tokens::tokens;
use crate::lexer::{blank, split_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A path of names, `crate::a::B`, as it is written.
pub(super) type Names = Vec<String>;

/// One module.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Place of its file among the files of the crate.
    pub(super) file: usize,
    /// Place of the module around it; its own for the crate's root.
    pub(super) parent: usize,
    /// Places of the modules inside it.
    pub(super) children: BTreeMap<String, usize>,
    /// Items by name.
    pub(super) defined: BTreeSet<String>,
    /// What it imports, by the name it has here.
    pub(super) imports: BTreeMap<String, Names>,
    /// Modules of which it imports everything.
    pub(super) globs: Vec<Names>,
    /// Paths that its code says.
    pub(super) said: Vec<Names>,
}

/// The modules that a crate's root reaches; the first is the root.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: Vec<PathBuf>,
    pub(super) modules: Vec<Module>,
    /// Where each `macro_rules!` is.
    pub(super) macros: BTreeMap<String, usize>,
}

impl Tree {
    /// Reads the tree below the root file of a library or a program.
    pub(super) fn read(root: &Path) -> Self {
        let mut tree = Self::default();
        tree.modules.push(Module::default());
        let below = root.parent().unwrap_or(Path::new("")).to_owned();
        tree.read_file(root, 0, &below);
        tree
    }

    fn read_file(&mut self, path: &Path, module: usize, below: &Path) {
        let Ok(source) = fs::read_to_string(path) else {
            return;
        };
        self.modules[module].file = self.files.len();
        self.files.push(path.to_owned());
        let code = split_tests(&blank(&source)).0;
        let mut walk = Walk {
            inside: vec![(module, 0, below.to_owned())],
            depth: 0,
        };
        let tokens: Vec<&str> = tokens(&code).collect();
        let mut at = 0;
        while at < tokens.len() {
            at += self.step(
                &tokens[at..],
                at.checked_sub(1).map(|at| tokens[at]),
                &mut walk,
            );
        }
    }

    /// Takes what stands first; gives of how many tokens it was.
    fn step(&mut self, rest: &[&str], before: Option<&str>, walk: &mut Walk) -> usize {
        let module = walk.module();
        match rest {
            ["{", ..] => walk.depth += 1,
            ["}", ..] => walk.leave(),
            ["mod", name, ";", ..] => {
                let below = walk.folder().join(name);
                let child = self.add(module, name);
                let inline = walk.folder().join(format!("{name}.rs"));
                let path = if inline.is_file() {
                    inline
                } else {
                    below.join("mod.rs")
                };
                self.read_file(&path, child, &below);
                return 3;
            }
            ["mod", name, "{", ..] => {
                let (child, below) = (self.add(module, name), walk.folder().join(name));
                self.modules[child].file = self.modules[module].file;
                walk.depth += 1;
                walk.inside.push((child, walk.depth, below));
                return 3;
            }
            ["macro_rules", "!", name, ..] => {
                let file = self.modules[module].file;
                self.macros.insert((*name).to_owned(), file);
                return 3;
            }
            ["use", ..] => {
                let length = rest
                    .iter()
                    .position(|token| *token == ";")
                    .unwrap_or(rest.len());
                self.modules[module].import(&rest[1..length], &[]);
                return length;
            }
            // Who may see an item; nothing of it is used.
            ["(", "in", ..] if before == Some("pub") => {
                let end = rest.iter().position(|token| *token == ")");
                return end.unwrap_or(rest.len());
            }
            [kind, name, ..] if is_definition(kind) => {
                self.modules[module].defined.insert((*name).to_owned());
            }
            [first, "::", ..] if before != Some("::") && is_name(first) => {
                let names: Names = path(rest);
                let length = 2 * names.len() - 1;
                self.modules[module].said.push(names);
                return length;
            }
            _ => {}
        }
        1
    }

    fn add(&mut self, parent: usize, name: &str) -> usize {
        let child = self.modules.len();
        self.modules.push(Module {
            parent,
            ..Module::default()
        });
        self.modules[parent].children.insert(name.to_owned(), child);
        child
    }
}

impl Module {
    /// Takes the tree of an import apart.
    fn import(&mut self, tree: &[&str], prefix: &[String]) {
        let names = path(tree);
        let whole: Names = prefix
            .iter()
            .cloned()
            .chain(names.iter().cloned())
            .collect();
        let rest = &tree[(2 * names.len()).saturating_sub(1).min(tree.len())..];
        let rest = rest.strip_prefix(&["::"]).unwrap_or(rest);
        match rest {
            ["{", inside @ ..] => {
                for branch in branches(inside) {
                    self.import(branch, &whole);
                }
            }
            ["*", ..] => self.globs.push(whole),
            ["as", name, ..] => self.insert(name, whole),
            _ => match whole.last().cloned() {
                Some(last) if last == "self" && whole.len() > 1 => {
                    let whole = whole[..whole.len() - 1].to_vec();
                    let name = whole.last().cloned().unwrap_or_default();
                    self.insert(&name, whole);
                }
                Some(last) => self.insert(&last, whole),
                None => {}
            },
        }
    }

    fn insert(&mut self, name: &str, whole: Names) {
        self.said.push(whole.clone());
        self.imports.insert(name.to_owned(), whole);
    }
}

/// Where the reading of a file is.
struct Walk {
    /// Modules that are open: place, depth of braces of the body, folder of what is inside.
    inside: Vec<(usize, usize, PathBuf)>,
    depth: usize,
}

impl Walk {
    fn module(&self) -> usize {
        self.inside.last().map_or(0, |(module, ..)| *module)
    }

    fn folder(&self) -> &Path {
        self.inside
            .last()
            .map_or(Path::new(""), |(.., folder)| folder)
    }

    fn leave(&mut self) {
        if self.inside.len() > 1
            && self
                .inside
                .last()
                .is_some_and(|inside| inside.1 == self.depth)
        {
            self.inside.pop();
        }
        self.depth = self.depth.saturating_sub(1);
    }
}

/// The branches of `{a, b::{c, d}}` behind its first brace.
fn branches<'a, 'b>(inside: &'a [&'b str]) -> Vec<&'a [&'b str]> {
    let (mut branches, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, token) in inside.iter().enumerate() {
        match *token {
            "{" => depth += 1,
            "}" if depth == 0 => {
                branches.push(&inside[begin..at]);
                break;
            }
            "}" => depth -= 1,
            "," if depth == 0 => {
                branches.push(&inside[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    branches.retain(|branch| !branch.is_empty());
    branches
}

/// The names of a path that stands first, as far as they go.
fn path(tokens: &[&str]) -> Names {
    let mut names = Vec::new();
    for pair in tokens.chunks(2) {
        if !is_name(pair[0]) {
            break;
        }
        names.push(pair[0].to_owned());
        if pair.get(1) != Some(&"::") {
            break;
        }
    }
    names
}

fn is_name(token: &str) -> bool {
    token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

fn is_definition(word: &str) -> bool {
    matches!(
        word,
        "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static"
    )
}
