//! Visits a syntax tree once and collects commands, redirections, assignments and evaluations.

use std::collections::HashMap;

use tree_sitter::{Node, Tree};

use super::super::line_reading::{
    Direction, Evaluation, LineReading, SimpleCommand, TextSpan, names_descriptor,
};

/// The findings in a tree so far.
#[derive(Default)]
pub(super) struct TreeVisitor<'t> {
    text: &'t str,
    pub(super) reading: LineReading,
    /// Constructs that change what commands mean or evaluate text as code.
    pub(super) hazards: Vec<&'static str>,
    /// True if the line has a loop.
    pub(super) loops: bool,
    /// The kinds of the ancestors of the visited node.
    above: Vec<&'static str>,
    /// Arguments after a redirection, by the node of their command. In `cat 2>/dev/null f` the grammar treats
    /// `f` as a second target of the redirection.
    displaced: HashMap<usize, Vec<TextSpan>>,
    /// The actual number of targets of a redirection, by its node.
    targets: HashMap<usize, usize>,
}

impl<'t> TreeVisitor<'t> {
    /// Visits every node of a tree.
    pub(super) fn of(text: &'t str, tree: &Tree) -> Self {
        let mut visitor = Self { text, ..Self::default() };
        if tree.root_node().has_error() {
            visitor.hazards.push("cannot be parsed completely");
        }
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            visitor.visit(node);
            if cursor.goto_first_child() {
                visitor.above.push(node.kind());
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return visitor;
                }
                visitor.above.pop();
            }
        }
    }

    fn visit(&mut self, node: Node) {
        match node.kind() {
            "command" => self.command(node),
            "variable_assignment" => self.assignment(node),
            "redirected_statement" => self.redirected(node),
            "file_redirect" => self.redirection(node),
            // The grammar has its own nodes for these. They are commands like any other.
            "declaration_command" | "unset_command" => self.words_of(node),
            "test_command" => self.test(node),
            "function_definition" => self.hazards.push("defines a function"),
            "c_style_for_statement" => {
                self.loops = true;
                self.hazards.push("evaluates arithmetic");
            }
            "for_statement" | "while_statement" => self.loops = true,
            "arithmetic_expansion" => self.evaluates(node, Evaluation::Arithmetic),
            "expansion" => self.evaluates(node, Evaluation::Expansion),
            "case_statement" => self.evaluates(node, Evaluation::Case),
            "ansi_c_string" => self.evaluates(node, Evaluation::Quote),
            "array" | "subscript" => self.hazards.push("uses an array"),
            "translated_string" => self.hazards.push("uses a `$` quote"),
            "ERROR" => self.hazards.push("cannot be parsed completely"),
            _ if node.is_missing() => self.hazards.push("cannot be parsed completely"),
            _ => {}
        }
    }

    fn evaluates(&mut self, node: Node, what: Evaluation) {
        self.reading.evaluations.push((span(node), what));
    }

    fn command(&mut self, node: Node) {
        let mut command = SimpleCommand::default();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => command.environment.push(span(child)),
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" | "comment" => {}
                _ => command.words.push(span(child)),
            }
        }
        if let Some(displaced) = self.displaced.remove(&node.id()) {
            command.words.extend(displaced);
            command.words.sort_unstable();
        }
        if command.words.is_empty() {
            self.reading.assignments.extend(command.environment);
        } else {
            self.reading.commands.push(command);
        }
    }

    fn assignment(&mut self, node: Node) {
        // Assignments in front of a program belong to its command.
        if !matches!(self.above.last(), Some(&("command" | "declaration_command"))) {
            self.reading.assignments.push(span(node));
        }
    }

    /// A command for which the grammar has its own node.
    fn words_of(&mut self, node: Node) {
        let mut cursor = node.walk();
        let mut words: Vec<TextSpan> = node.children(&mut cursor).map(span).collect();
        words.extend(self.displaced.remove(&node.id()).unwrap_or_default());
        words.sort_unstable();
        self.reading.commands.push(SimpleCommand { words, environment: Vec::new() });
    }

    /// `[ … ]` is a command like any other, although the grammar treats it differently. `[[ … ]]` is one
    /// without its operators and brackets. `((…))` evaluates arithmetic.
    fn test(&mut self, node: Node) {
        let written = span(node).of(self.text);
        if written.starts_with("((") {
            return self.hazards.push("evaluates arithmetic");
        }
        let is_double = written.starts_with("[[");
        let mut words = Vec::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if node.kind() == "test_command" || node.kind().ends_with("_expression") {
                let mut cursor = node.walk();
                open.extend(node.children(&mut cursor));
            } else if !(is_double && matches!(node.kind(), "&&" | "||" | "(" | ")" | "<" | ">")) {
                words.push(span(node));
            }
        }
        words.extend(self.displaced.remove(&node.id()).unwrap_or_default());
        words.sort_unstable();
        self.reading.commands.push(SimpleCommand { words, environment: Vec::new() });
    }

    /// Finds arguments after redirections, for their command.
    fn redirected(&mut self, node: Node) {
        let Some(body) = node.child_by_field_name("body") else { return };
        if !matches!(
            body.kind(),
            "command" | "declaration_command" | "unset_command" | "test_command"
        ) {
            return;
        }
        let mut displaced: Vec<TextSpan> = self.lost_dash(node, body).into_iter().collect();
        let mut cursor = node.walk();
        for redirect in node.children_by_field_name("redirect", &mut cursor) {
            match redirect.kind() {
                "file_redirect" => self.displace(redirect, &mut displaced),
                "heredoc_redirect" => {
                    let mut inner = redirect.walk();
                    for child in redirect.children_by_field_name("argument", &mut inner) {
                        displaced.push(span(child));
                    }
                    let mut inner = redirect.walk();
                    for child in redirect.children_by_field_name("redirect", &mut inner) {
                        self.displace(child, &mut displaced);
                    }
                }
                _ => {}
            }
        }
        if !displaced.is_empty() {
            self.displaced.insert(body.id(), displaced);
        }
    }

    /// The `-` in `python3 - <<EOF`, which the grammar skips.
    fn lost_dash(&self, node: Node, body: Node) -> Option<TextSpan> {
        let redirect = node.child_by_field_name("redirect")?;
        let gap = TextSpan { start: body.end_byte(), end: redirect.start_byte() };
        let text = gap.of(self.text);
        let start = gap.start + text.find('-')?;
        (text.trim() == "-").then_some(TextSpan { start, end: start + 1 })
    }

    fn displace(&mut self, redirect: Node, displaced: &mut Vec<TextSpan>) {
        let closes = self.operator(redirect).ends_with('-');
        let mut cursor = redirect.walk();
        let targets = redirect.children_by_field_name("destination", &mut cursor);
        // `<&-` has no target.
        let count = usize::from(!closes);
        displaced.extend(targets.skip(count).map(span));
        self.targets.insert(redirect.id(), count);
    }

    fn operator(&self, redirect: Node) -> &'t str {
        let mut cursor = redirect.walk();
        let mut children = redirect.children(&mut cursor);
        let operator = children.find(|it| !it.is_named()).map(span);
        operator.map(|it| it.of(self.text)).unwrap_or_default()
    }

    fn redirection(&mut self, node: Node) {
        let count = self.targets.get(&node.id()).copied().unwrap_or(usize::MAX);
        let operator = self.operator(node);
        let mut cursor = node.walk();
        for target in node.children_by_field_name("destination", &mut cursor).take(count) {
            let target = span(target);
            if !(matches!(operator, ">&" | "<&") && names_descriptor(target.of(self.text))) {
                let reads = matches!(operator, "<" | "<&");
                let direction = if reads { Direction::Reads } else { Direction::Writes };
                self.reading.redirections.push((target, direction));
            }
        }
    }
}

fn span(node: Node) -> TextSpan {
    TextSpan { start: node.start_byte(), end: node.end_byte() }
}
