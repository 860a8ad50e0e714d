//! Words at the beginning of a command and in it: reserved words, assignments, programs and arguments.

use super::{CommandPosition, ForLoop, GaveUp, ShellLexer, SimpleCommand, TextSpan, is_assignment};

impl ShellLexer<'_> {
    /// Reads a word and returns what may follow it; `None` after `esac`.
    pub(super) fn word_in(
        &mut self,
        position: CommandPosition,
        command: &mut SimpleCommand,
        depth: usize,
    ) -> Result<Option<CommandPosition>, GaveUp> {
        let word = self.word(depth)?;
        let text = word.of(self.line);
        if position == CommandPosition::Closed {
            return Err("has a word after the end of a compound command");
        }
        if position == CommandPosition::Arguments {
            command.words.push(word);
            return Ok(Some(CommandPosition::Arguments));
        }
        if position == CommandPosition::Start {
            match text {
                "esac" => {
                    self.finish(command);
                    return Ok(None);
                }
                "time" => {
                    command.words.push(word);
                    return Ok(Some(CommandPosition::Timed));
                }
                _ => {}
            }
            if let Some(next) = self.reserved(word, depth)? {
                return Ok(Some(next));
            }
        }
        if position == CommandPosition::Timed {
            if is_reserved(text) || is_assignment(text) {
                return Err("uses `time` with more than a plain command");
            }
            command.words.push(word);
            let is_option = matches!(text, "-p" | "--");
            return Ok(Some(if is_option {
                CommandPosition::Timed
            } else {
                CommandPosition::Arguments
            }));
        }
        if is_assignment(text) {
            // In other shells `a+=/x` is a program.
            if text.split_once('=').is_some_and(|(name, _)| name.ends_with('+')) {
                self.only_in_bash()?;
            }
            command.environment.push(word);
            return Ok(Some(CommandPosition::Program));
        }
        // `a[$(x)]=1` and `a=(…)` may run code.
        if text.contains('=') && text.contains('[') {
            return Err("assigns to an array");
        }
        // In a single-byte locale, the bytes of `ê` are letters, and this sets a variable.
        if text.split_once('=').is_some_and(|(name, _)| !name.is_ascii()) {
            return Err("may assign to a name that is not ASCII");
        }
        command.words.push(word);
        Ok(Some(CommandPosition::Arguments))
    }

    /// What may follow a reserved word; `None` for any other word.
    fn reserved(
        &mut self,
        word: TextSpan,
        depth: usize,
    ) -> Result<Option<CommandPosition>, GaveUp> {
        self.tokens += usize::from(is_reserved(word.of(self.line)));
        match word.of(self.line) {
            "if" | "{" => {
                self.open += 1;
                Ok(Some(CommandPosition::Start))
            }
            "while" | "until" => {
                self.open += 1;
                self.open_loops.push(None);
                Ok(Some(CommandPosition::Start))
            }
            "then" | "elif" | "else" | "do" | "!" => Ok(Some(CommandPosition::Start)),
            "fi" | "done" | "}" => {
                self.open = self.open.saturating_sub(1);
                if word.of(self.line) == "done" {
                    let ended = self.open_loops.pop().flatten();
                    if let Some(it) = ended.and_then(|it| self.loops.get_mut(it)) {
                        it.body.end = word.start;
                    }
                }
                Ok(Some(CommandPosition::Closed))
            }
            "for" => {
                self.open += 1;
                self.for_loop(depth).map(Some)
            }
            "case" => self.case(word, depth).map(Some),
            "[[" => self.test(word, depth).map(Some),
            "function" => Err("defines a function"),
            "coproc" => Err("starts a coprocess"),
            "select" | "]]" | "in" => Err("uses a construct that is not analysed"),
            _ => Ok(None),
        }
    }

    /// The rest of `for NAME in WORD…`, up to the `;` or the end of the line before `do`.
    fn for_loop(&mut self, depth: usize) -> Result<CommandPosition, GaveUp> {
        self.blanks();
        if self.starts_with("((") {
            return Err("evaluates arithmetic in `for ((…))`, where variables may hold code");
        }
        let variable = self.word(depth)?;
        let mut values = Vec::new();
        self.blanks();
        if self.word(depth)?.of(self.line) != "in" {
            return Err("uses a form of `for` that is not analysed");
        }
        loop {
            self.blanks();
            match self.peek(0) {
                Some(b';' | b'\n') => {
                    self.open_loops.push(Some(self.loops.len()));
                    self.loops.push(ForLoop { variable, values, body: self.at..self.at });
                    return Ok(CommandPosition::Start);
                }
                Some(b'&' | b'|' | b'<' | b'>' | b'(' | b')') | None => {
                    return Err("uses a form of `for` that is not analysed");
                }
                Some(_) => values.push(self.word(depth)?),
            }
        }
    }
}

/// True for words with a special meaning at the beginning of a command.
fn is_reserved(text: &str) -> bool {
    const RESERVED: [&str; 22] = [
        "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
        "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
    ];
    RESERVED.contains(&text)
}
