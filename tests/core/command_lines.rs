//! Command lines that try to get a program past the rules.

/// Numbers that look random and are the same every time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.roll(from.len())).unwrap()
    }
}

/// Lines that the rules of [`crate::recording_bash`] allow.
pub(crate) const STARTS: &[&str] = &[
    "git status",
    "git status && ls",
    "ls | head",
    "cat <<EOF\nx\nEOF\n",
    "echo \"$(git log)\"",
    "if git status; then ls; fi",
    "for f in a b; do cat $f; done",
    "bash -c 'git status; ls'",
    "timeout 1 git log",
    "env LANG=C ls",
    "ls | xargs grep x",
    "(git status; ls)",
    "{ ls; }",
    "cat <(git log)",
    "git status > /dev/null 2>&1",
    "printf '%s' a",
    "sh -c 'x=1; ls' && printf '%5d%%' 1",
    "test -f x && ls",
    "! ls",
    "x=1; echo $x",
    "eval 'git status'",
    "command ls",
    "git log \\\n --oneline",
    "ls # note\n",
    "cat <<'EOF' | grep x\n$(evil)\nEOF\n",
    "git status; while false; do ls; done",
    "nohup ls &",
    "echo 'a b' \"c $x\" d\\ e",
    "grep -E 'a|b' < /dev/null",
    "sh -c \"ls\" rm evil",
    "set -e; ls",
    "git status || true",
    "cat <<-E\n\tx\n\tE\nls",
    "echo ${x} $? $# $@",
    "[ -f x ] || ls",
    "if [ a = b ]; then ls; fi; git status",
    "echo \"$(cat <<'EOF'\nx\nEOF\n)\"",
    "git log $(cat <<EOF\na b\nEOF\n) && ls",
];

/// What may turn them into something else.
const PIECES: &[&str] = &[
    "EOF)",
    "\nEOF)\"; evil; echo \"",
    "\"; evil; echo \"",
    "); evil; (",
    ")\"; evil; \"$(",
    "'; evil; '",
    "\nE\n",
    "x\n",
    "rm x",
    "evil",
    "touch f",
    "; evil",
    "&& evil",
    "| evil",
    "|| evil",
    "& evil",
    "\nevil\n",
    "$(evil)",
    "`evil`",
    "<(evil)",
    ">(evil)",
    "> f",
    ">> f",
    "&> f",
    ">& f",
    "2>&1",
    ">|f",
    "<>f",
    "'",
    "\"",
    "\\",
    "$",
    "(",
    ")",
    "{",
    "}",
    "`",
    "#",
    "!",
    ";",
    "&",
    "|",
    "\n",
    "\t",
    " ",
    "  ",
    "<<EOF\n",
    "<<'EOF'\n",
    "\nEOF\n",
    "<<< evil",
    "<<-EOF\n",
    "EOF",
    "$'evil'",
    "$\"evil\"",
    "${x@P}",
    "${x:-$(evil)}",
    "$((a[$(evil)]))",
    "$[a[$(evil)]]",
    "a[$(evil)]=1",
    "x=(evil)",
    "PATH=.:$PATH ",
    "LANG=C ",
    "x=1 ",
    "x=evil ",
    "$x",
    "${x}",
    "\"$x\"",
    "x=1;",
    "x=evil;",
    "if ",
    "then ",
    "else ",
    "fi",
    "; fi",
    "for x in evil; do ",
    "do ",
    "done",
    "; done",
    "while ",
    "until ",
    "case x in x) ",
    "esac",
    ";;",
    "select x in a; do ",
    "function ls { evil; }; ",
    "ls() { evil; }; ",
    "coproc evil",
    "time ",
    "time -p ",
    "[[ -v 'a[$(evil)]' ]]",
    "[ -f x ]",
    "test -v 'a[$(evil)]'",
    "printf -v 'a[$(evil)]' x",
    "printf 'x%n' PATH; ",
    "%n",
    "%5n ",
    "%s%ln",
    " PATH; ls",
    "+=",
    "a+=/x; ",
    "sh -c 'a+=/x; ls'",
    ">&1-2",
    "12>",
    "jobs -x evil",
    "builtin evil",
    "env -u ",
    "-exec env -u + evil {} \\; ",
    "setpriv evil",
    "declare ",
    "export ",
    "unset ",
    "read ",
    "let ",
    "eval ",
    "exec ",
    "command ",
    "builtin ",
    "env ",
    "env -i ",
    "timeout 1 ",
    "nice ",
    "xargs ",
    "xargs -I{} ",
    "bash -c ",
    "sh -c ",
    "bash ",
    "'evil'",
    "'ls; evil'",
    "\"ls\"",
    "'git' ",
    "find . -exec evil \\; ",
    "find . ",
    "trap evil EXIT; ",
    "alias ls=evil\n",
    "shopt -s expand_aliases extglob\n",
    "hash -p evil ls; ",
    ". evil",
    "source evil",
    "*",
    "?",
    "{evil,ls}",
    "~",
    "~/",
    "@(evil)",
    "!(evil)",
    "\r",
    "\u{a0}",
    "\u{b}",
    "\\\n",
    "a\\\nb",
    "|&",
    "2>f",
    "3<>f",
    "{fd}>f",
    "&>/dev/null",
    "<&-",
    ">&-",
    "-c ",
    "-- ",
    "--",
    "+e ",
    "git ",
    "ls ",
    "cat ",
    "in ",
    "] ",
    "]] ",
    "((",
    "))",
    "((1))",
    "evil;ls",
    "e'v'il",
    "\\evil",
    "\"evil\" ",
    "$(ls;evil)",
    "\"$(evil)\"",
    "\"`evil`\"",
    "'$(evil)'",
    "\\$(evil)",
    "\\`evil`",
    "\\;",
    "\\\"",
];

/// What a line may stand in, before and after it.
const AROUND: &[(&str, &str)] = &[
    ("echo \"$(", ")\""),
    ("echo $(", ")"),
    ("cat <(", ")"),
    ("(", ")"),
    ("{ ", "\n}"),
    ("if ", "; then ls; fi"),
    ("if true; then ", "\nfi"),
    ("for f in a b; do ", "\ndone"),
    ("for f in $(", "); do ls; done"),
    ("bash -c '", "'"),
    ("sh -c \"", "\""),
    ("eval '", "'"),
    ("! ", " &"),
    ("x=$(", "); ls"),
    ("cat <<EOF\n", "\nEOF\n"),
    ("cat <<'EOF'\n", "\nEOF\n"),
    ("ls <<< \"", "\""),
    ("git log '", "'"),
    ("ls # ", "\nls"),
];

/// One line: a line that is allowed, perhaps within another, and changed.
pub(crate) fn line(dice: &mut Dice) -> String {
    let mut line = dice.pick(STARTS).to_owned();
    for _ in 0..dice.roll(3) {
        wrap(&mut line, dice);
    }
    for _ in 0..=dice.roll(4) {
        change(&mut line, dice);
    }
    line
}

/// Puts a line into another, and perhaps one behind it.
pub(crate) fn wrap(line: &mut String, dice: &mut Dice) {
    let (before, after) = AROUND.get(dice.roll(AROUND.len())).unwrap();
    *line = format!("{before}{line}{after}");
    if dice.roll(3) == 0 {
        line.push_str(dice.pick(&["; ", " && ", "\n", " | ", " & ", ""]));
        line.push_str(dice.pick(STARTS));
    }
}

/// Puts a piece somewhere into a line, or takes a part out of it.
pub(crate) fn change(line: &mut String, dice: &mut Dice) {
    let places: Vec<usize> = line.char_indices().map(|it| it.0).chain([line.len()]).collect();
    let at = *places.get(dice.roll(places.len())).unwrap();
    if dice.roll(5) == 0 {
        let until = *places.get(dice.roll(places.len())).unwrap();
        line.replace_range(at.min(until)..at.max(until), "");
    } else {
        line.insert_str(at, dice.pick(PIECES));
    }
}
