//! The broad reading of a command line, by the grammar of tree-sitter.
//!
//! It finds simple commands wherever they hide: lists, pipes, substitutions, functions, loops,
//! `case`, `[[`. What it finds is enough to deny; to allow, the lexer has to agree.

use std::ops::ControlFlow;

use tree_sitter::{Decode, Node, ParseOptions, ParseState, Parser, Tree};

use super::reading::{Direction, Reading, Span, names_descriptor};

/// How often the parser may report progress before it is stopped; 8 KB of plain words take 80 reports,
/// and lines made to go wrong ten times as many. A bound on work, not on time, so
/// that the same line always gets the same answer.
const MAX_PROGRESS_REPORTS: usize = 150;

/// What the grammar finds.
#[derive(Default)]
pub(super) struct Parsed {
    pub(super) reading: Reading,
    /// Constructs that change what commands mean or evaluate text as code.
    pub(super) hazards: Vec<&'static str>,
    /// True with a loop.
    pub(super) loops: bool,
}

/// Parses a line; `None` when the parser gave up.
pub(super) fn parse(line: &str) -> Option<Parsed> {
    let tree = tree_of(line)?;
    let mut parsed = Parsed::default();
    if tree.root_node().has_error() {
        parsed.hazards.push("cannot be parsed completely");
    }
    let mut cursor = tree.walk();
    let mut entering = true;
    loop {
        if entering {
            parsed.visit(cursor.node(), line);
            if cursor.goto_first_child() {
                continue;
            }
        }
        if cursor.goto_next_sibling() {
            entering = true;
            continue;
        }
        if !cursor.goto_parent() {
            break;
        }
        entering = false;
    }
    parsed.hazards.sort_unstable();
    parsed.hazards.dedup();
    parsed.reading = parsed.reading.sorted();
    Some(parsed)
}

fn tree_of(line: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut reports = 0;
    let mut progress = |_: &ParseState| {
        reports += 1;
        if reports > MAX_PROGRESS_REPORTS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = line.as_bytes();
    let mut rest = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_custom_encoding::<AsciiOnly, _, _>(&mut rest, None, Some(options))
}

/// Shows the grammar one sign in the place of every character that is not ASCII. To bash they are all
/// alike, parts of words (the lexer knows the exception). The grammar's scanner would look some of them up
/// behind the end of a table of 256 (tree-sitter-bash issue 337), take others for spaces, and depend on
/// the locale for letters.
struct AsciiOnly;

impl Decode for AsciiOnly {
    fn decode(bytes: &[u8]) -> (i32, u32) {
        /// `×`: no letter, digit or space, and inside the table.
        const STAND_IN: i32 = 0xd7;
        match bytes {
            [] => (0, 0),
            [it @ 0..=0x7f, ..] => (i32::from(*it), 1),
            [_, rest @ ..] => {
                let more = rest.iter().take_while(|it| **it & 0xc0 == 0x80).count();
                (STAND_IN, u32::try_from(more).map_or(1, |it| it + 1))
            }
        }
    }
}

impl Parsed {
    fn visit(&mut self, node: Node, line: &str) {
        match node.kind() {
            "command" => self.command(node),
            "variable_assignment" => self.assignment(node),
            "file_redirect" => self.redirection(node, line),
            "declaration_command" => self.words_of(node, "declares variables"),
            "unset_command" => self.words_of(node, "unsets variables"),
            "test_command" => self.test(node, line),
            "function_definition" => self.hazards.push("defines a function"),
            "arithmetic_expansion" => self.hazards.push("evaluates arithmetic"),
            "c_style_for_statement" => {
                self.loops = true;
                self.hazards.push("evaluates arithmetic");
            }
            "for_statement" | "while_statement" => self.loops = true,
            "expansion" => self.expansion(node, line),
            "array" | "subscript" => self.hazards.push("uses an array"),
            "case_statement" => self.hazards.push("uses `case`"),
            "ansi_c_string" | "translated_string" => self.hazards.push("uses a `$` quote"),
            "extglob_pattern" | "regex" => self.hazards.push("uses an extended pattern"),
            "ERROR" => self.hazards.push("cannot be parsed completely"),
            _ if node.is_missing() => self.hazards.push("cannot be parsed completely"),
            _ => {}
        }
    }

    fn command(&mut self, node: Node) {
        let mut words = Vec::new();
        let mut environment = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => environment.push(span(child)),
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" | "comment" => {}
                _ => words.push(span(child)),
            }
        }
        self.reading.environment.extend(environment);
        if !words.is_empty() {
            self.reading.commands.push(words);
        }
    }

    fn assignment(&mut self, node: Node) {
        if node.parent().is_none_or(|it| it.kind() != "command") {
            self.reading.assignments.push(span(node));
        }
    }

    /// Commands that the grammar has a form of its own for; every one of them can run code.
    fn words_of(&mut self, node: Node, hazard: &'static str) {
        let mut cursor = node.walk();
        self.reading.commands.push(node.children(&mut cursor).map(span).collect());
        self.hazards.push(hazard);
    }

    /// `[ … ]` is a command like others, whatever the grammar makes of it; `[[ … ]]` evaluates.
    fn test(&mut self, node: Node, line: &str) {
        if span(node).of(line).starts_with("[[") || span(node).of(line).starts_with("((") {
            return self.words_of(node, "evaluates a test expression");
        }
        let mut words = Vec::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if node.kind() == "test_command" || node.kind().ends_with("_expression") {
                let mut cursor = node.walk();
                open.extend(node.children(&mut cursor));
            } else {
                words.push(span(node));
            }
        }
        words.sort_unstable();
        self.reading.commands.push(words);
    }

    /// `${name}` is a variable; `${x@P}`, `${!x}`, `${a[i]}` and `${x:i}` evaluate what they hold.
    fn expansion(&mut self, node: Node, line: &str) {
        let text = span(node).of(line);
        let name = text.strip_prefix("${").and_then(|it| it.strip_suffix('}')).unwrap_or_default();
        if name.is_empty() || !name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') {
            self.hazards.push("uses an expansion that is not a plain variable");
        }
    }

    fn redirection(&mut self, node: Node, line: &str) {
        let mut cursor = node.walk();
        let mut operator = "";
        for child in node.children(&mut cursor) {
            if !child.is_named() {
                operator = span(child).of(line);
                continue;
            }
            if child.kind() == "file_descriptor" {
                continue;
            }
            let target = span(child);
            if !(matches!(operator, ">&" | "<&") && names_descriptor(target.of(line))) {
                let reads = matches!(operator, "<" | "<&");
                let direction = if reads { Direction::Reads } else { Direction::Writes };
                self.reading.redirections.push((target, direction));
            }
        }
    }
}

fn span(node: Node) -> Span {
    Span { start: node.start_byte(), end: node.end_byte() }
}
