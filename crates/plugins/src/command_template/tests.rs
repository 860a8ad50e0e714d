//! Which templates are refused, and what the others run.

#![expect(clippy::unwrap_used, reason = "tests")]

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright_shell::Word;

use super::*;

/// `a` is required, `b`, `c` and `url` are optional, `n` is a number, `mode` one of two, `d` has a default.
fn parameters() -> Parameters {
    let text = json!({ "type": "string" });
    Parameters::of_schema(&json!({
        "type": "object",
        "properties": {
            "a": text, "b": text, "c": text, "url": text, "pattern": text, "directory": text,
            "n": { "type": "integer" },
            "mode": { "type": "string", "enum": ["x", "y"] },
            "d": { "type": "string", "default": "D" },
        },
        "required": ["a"],
    }))
}

fn read(template: &str) -> Result<CommandTemplate, String> {
    CommandTemplate::read(template, &parameters())
}

fn filled(template: &str, values: &Value) -> FilledCommand {
    read(template).unwrap().fill(CallValues(values)).unwrap()
}

fn refusal(template: &str, values: &Value) -> String {
    read(template).unwrap().fill(CallValues(values)).unwrap_err().message
}

#[test]
fn a_program_and_its_arguments_are_a_list_of_arguments() {
    let values = json!({ "a": "it's $(id) ; \"x\"\n*", "n": 5 });
    for (template, wanted) in [
        ("grep -rn {{a}} src", vec!["grep", "-rn", "it's $(id) ; \"x\"\n*", "src"]),
        ("grep '{{a}}'", vec!["grep", "it's $(id) ; \"x\"\n*"]),
        ("grep \"{{a}}\"", vec!["grep", "it's $(id) ; \"x\"\n*"]),
        ("echo 'a b'{{n}}\"c d\" \\{x}", vec!["echo", "a b5c d", "{x}"]),
        ("tool --of={{a}} --n={{n}}", vec!["tool", "--of=it's $(id) ; \"x\"\n*", "--n=5"]),
        (
            "docker ps --format '{{.Names}}' {{n}}",
            vec!["docker", "ps", "--format", "{{.Names}}", "5"],
        ),
        ("head -n{{n}} -- {{a}}", vec!["head", "-n5", "--", "it's $(id) ; \"x\"\n*"]),
        ("ls ''", vec!["ls", ""]),
    ] {
        let filled = filled(template, &values);
        assert_eq!(filled.text, RUN_ARGUMENTS, "{template}");
        assert_eq!(filled.parameters, wanted, "{template}");
    }
}

#[test]
fn a_line_with_operators_is_a_script_with_positional_parameters() {
    let values =
        json!({ "a": "x'; rm -rf / #", "pattern": "TODO", "directory": "my dir", "d": "out" });
    for (template, text, parameters, line) in [
        (
            "grep -rn '{{pattern}}' {{directory}} || true",
            r#"grep -rn "${1}" "${2}" || true"#,
            vec!["TODO", "my dir"],
            "grep -rn TODO 'my dir' || true",
        ),
        (
            "echo {{a}} > {{d}}",
            r#"echo "${1}" > "${2}""#,
            vec!["x'; rm -rf / #", "out"],
            r"echo 'x'\''; rm -rf / #' > out",
        ),
        (
            "ls $HOME | grep it\\'s-{{pattern}}",
            r#"ls $HOME | grep 'it'\''s-'"${1}""#,
            vec!["TODO"],
            r"ls $HOME | grep 'it'\''s-TODO'",
        ),
        (
            "cd src && ls {{a}}",
            r#"cd src && ls "${1}""#,
            vec!["x'; rm -rf / #"],
            r"cd src && ls 'x'\''; rm -rf / #'",
        ),
        ("ls *.ts", "ls *.ts", vec![], "ls *.ts"),
    ] {
        let parameters = parameters.into_iter().map(str::to_owned).collect();
        let wanted = FilledCommand { text: text.to_owned(), parameters, line: line.to_owned() };
        assert_eq!(filled(template, &values), wanted, "{template}");
    }
}

#[test]
fn an_argument_whose_parameter_is_missing_is_left_out() {
    let values = json!({ "a": "A", "b": null });
    assert_eq!(filled("x {{a}} --b={{b}} {{c}} z", &values).parameters, ["x", "A", "z"]);
    assert_eq!(filled("x {{b}}{{a}} | y {{c}}", &values).line, "x  | y ");
    assert_eq!(filled("x {{b}}; y {{a}} {{a}}", &values).text, r#"x ; y "${1}" "${2}""#);
    assert_eq!(filled("x {{a}}", &json!({ "a": "" })).parameters, ["x", ""]);
}

#[test]
fn values_of_any_type_are_one_argument() {
    let values = json!({ "a": ["x y", 1], "b": true, "n": 1.5, "c": { "k": "v" } });
    assert_eq!(
        filled("x {{a}} {{b}} {{n}} {{c}}", &values).parameters,
        ["x", r#"["x y",1]"#, "true", "1.5", r#"{"k":"v"}"#]
    );
}

#[test]
fn a_value_does_not_become_an_option() {
    for template in ["x {{a}}", "x '{{a}}' | y", "x {{b}}{{a}}", "x {{a}}{{b}}", "find -- {{a}}"] {
        for value in ["-o", "--output=x", "-", "-5"] {
            let message = refusal(template, &json!({ "a": value, "b": "" }));
            assert!(message.contains("begins with `-`"), "{template} {value}: {message}");
        }
    }
    assert_eq!(filled("x -- {{a}}", &json!({ "a": "-o" })).parameters, ["x", "--", "-o"]);
    assert_eq!(filled("x --o={{a}}", &json!({ "a": "-o" })).parameters, ["x", "--o=-o"]);
    assert_eq!(filled("x y{{a}}", &json!({ "a": "-o" })).parameters, ["x", "y-o"]);
    let behind_wrapper = refusal("env -- x {{a}}", &json!({ "a": "-o" }));
    assert!(behind_wrapper.contains("begins with `-`"), "{behind_wrapper}");
}

#[test]
fn values_that_cannot_be_passed_to_a_program_are_refused() {
    let long = "x".repeat(10_001);
    let message = refusal("x {{a}}", &json!({ "a": long }));
    assert!(message.contains("10001 characters"), "{message}");
    assert_eq!(filled("x {{a}}", &json!({ "a": "ä".repeat(10_000) })).parameters.len(), 2);
    let message = refusal("x --v={{a}} | y", &json!({ "a": "a\0b" }));
    assert!(message.contains("NUL"), "{message}");
}

#[test]
fn templates_that_would_run_a_value_are_refused() {
    for (template, word) in [
        ("{{a}}", "program"),
        ("{{a}} x", "program"),
        ("./{{a}}", "program"),
        ("x; {{a}}", "program"),
        ("x | {{a}}", "program"),
        ("$EDITOR {{a}}", "not known"),
        ("sh -c '{{a}}'", "`sh` runs"),
        ("sh -c 'echo {{a}}'", "`sh` runs"),
        ("/bin/bash -lc {{a}}", "`bash` runs"),
        ("bash {{a}}", "`bash` runs"),
        ("bash -euo pipefail {{a}}", "`bash` runs"),
        ("sh -s {{a}}", "`sh` runs"),
        ("echo {{a}} | sh", "`sh` runs"),
        ("echo {{a}} | sudo sh", "`sudo` runs"),
        ("echo {{a}} | python3", "`python3` runs"),
        ("eval {{a}}", "`eval` runs"),
        (". {{a}}", "`.` runs"),
        ("exec {{a}}", "`exec` runs"),
        ("python3 -c {{a}}", "`python3` runs"),
        ("python3.12 -c 'print({{a}})'", "`python3.12` runs"),
        ("node -e {{a}}", "`node` runs"),
        ("node --eval={{a}}", "`node` runs"),
        ("node -p '{{a}}'", "`node` runs"),
        ("bun run {{a}}", "`bun` runs"),
        ("deno eval {{a}}", "`deno` runs"),
        ("perl -ne '{{a}}' f", "`perl` runs"),
        ("ruby -e {{a}}", "`ruby` runs"),
        ("php -r {{a}}", "`php` runs"),
        ("awk '{{a}}' f", "`awk` runs"),
        ("awk -F: '{print {{a}}}' f", "`awk` runs"),
        ("sed -n '/{{a}}/p' f", "`sed` runs"),
        ("sed -e {{a}} f", "`sed` runs"),
        ("echo {{a}} | xargs rm", "`xargs` runs"),
        ("xargs {{a}}", "`xargs` runs"),
        ("env {{a}}", "`env` runs"),
        ("env X={{a}} ls", "`env` runs"),
        ("env sh -c {{a}}", "`sh` runs"),
        ("timeout 5 {{a}}", "`timeout` runs"),
        ("timeout -s KILL 5 {{a}}", "`timeout` runs"),
        ("nice -n 5 nohup bash -c {{a}}", "`bash` runs"),
        ("ssh host {{a}}", "`ssh` runs"),
        ("make {{a}}", "`make` runs"),
        ("sqlite3 x.db {{a}}", "`sqlite3` runs"),
        ("npx {{a}}", "`npx` runs"),
        ("watch {{a}}", "`watch` runs"),
        ("find . -exec {{a}} {} \\;", "program"),
        ("find {{a}} -exec sh -c {{b}} \\;", "`sh` runs"),
        ("tar --to-command {{a}} -x", "`--to-command` is run"),
        ("tar --to-command={{a}} -x", "`--to-command` is run"),
        ("git -c {{a}} log", "`-c` is run"),
        ("printf -v {{a}} x", "`printf -v`"),
        ("test -v {{a}}", "`test -v`"),
        ("unset {{a}}", "`unset` runs"),
        ("eval 'ls $1'; x {{a}}", "`eval` runs"),
        ("trap 'ls $1' EXIT; x {{a}}", "`trap` runs"),
        (". ./lib.sh; x {{a}}", "`.` runs"),
        ("shift; x {{a}}", "`shift` runs"),
        ("set -- y; x {{a}}", "`set` replaces"),
        ("set y; x {{a}}", "`set` replaces"),
        ("x {{a}} $1", "`$1`"),
        ("x {{a}}; y $@", "`$1`"),
        ("x {{a}}; y \"${1}\" z", "`$1`"),
        ("x {{a}}; y ${@}", "cannot be checked"),
        ("x {{a}}; y=$*; z", "`$1`"),
        ("x {{a}}; y \"$(z $#)\"", "`$1`"),
        ("x {{a}} > $1", "`$1`"),
        ("let {{a}}", "`let` runs"),
    ] {
        let refused = read(template).unwrap_err();
        assert!(refused.contains(word), "{template}: {refused}");
    }
}

#[test]
fn code_in_or_after_further_options_is_refused() {
    for (template, word) in [
        ("sed -e p -e {{a}} f", "`sed` runs"),
        ("sed p f --expression={{a}}", "`sed` runs"),
        ("sed p f --expr={{a}}", "`sed` runs"),
        ("sed -n p f -f {{a}}", "`sed` runs"),
        ("awk -f lib.awk -e {{a}}", "`awk` runs"),
        ("perl -e 1 -e {{a}}", "`perl` runs"),
        ("perl -MData::Dumper -e {{a}}", "`perl` runs"),
        ("perl -ne print {{a}}", "`perl -n`"),
        ("python3 -Wonce -c {{a}}", "`python3` runs"),
        ("node -p -e {{a}}", "`node` runs"),
        ("bash -c -e {{a}}", "`bash` runs"),
        ("bash -c -- {{a}}", "`bash` runs"),
        ("bash - {{a}}", "`bash` runs"),
        ("echo {{a}} | sh -", "`sh` runs"),
        ("echo {{a}} | python3 -", "`python3` runs"),
        ("echo {{a}} | bash /dev/stdin", "`bash` runs"),
        ("docker exec box sh -c {{a}}", "code of a shell"),
        ("kubectl exec pod -- /bin/bash -lc '{{a}}'", "code of a shell"),
        ("git -C x -c {{a}} log", "`-c` is run"),
        ("timeout 5 git -c {{a}} log", "`-c` is run"),
        ("git -c a=b -c core.pager={{a}} log", "`-c` is run"),
        ("git --config-env a=B -c {{a}} log", "`-c` is run"),
        ("fd -Hx awk {{a}}", "`awk` runs"),
        ("docker exec box pwsh -c {{a}}", "code of a shell"),
        ("git submodule foreach {{a}}", "`foreach` is run"),
        ("git bisect run {{a}}", "`run` is run"),
        ("git grep --open-files-in-pager={{a}} x", "is run"),
        ("sort --compress-program={{a}} x", "is run"),
        ("tar -I {{a}} -xf x", "`-I` is run"),
        ("rsync -e {{a}} x y", "`-e` is run"),
        ("npm exec {{a}}", "`exec` is run"),
        ("dc -e {{a}}", "`dc` runs"),
    ] {
        let refused = read(template).unwrap_err();
        assert!(refused.contains(word), "{template}: {refused}");
    }
}

#[test]
fn placeholders_that_are_not_arguments_are_refused() {
    for template in [
        "X={{a}} ls",
        "X={{a}}; ls $X",
        "for f in {{a}}; do ls $f; done",
        "case {{a}} in x) ls;; esac",
        "ls $(echo {{a}})",
        "ls \"$(echo {{a}})\"",
        "ls `echo {{a}}`",
        "ls $(({{a}}))",
        "ls ${X:-{{a}}}",
        "ls ${{a}}",
        "ls \"$HOME/{{a}}\"",
        "ls *{{a}}",
        "ls ~/{{a}}",
        "ls # {{a}}",
        "cat <<E\n{{a}}\nE",
        "cat <<'E'\n{{a}}\nE",
        "ls > {{b}}",
        "ls {{unknown}}",
        "grep -{{a}} x",
        "grep -n{{a}} x",
        "ls '{{a}}",
        "",
        " ",
    ] {
        assert!(read(template).is_err(), "{template}");
    }
    for template in
        ["grep -n{{n}} x", "grep -{{mode}} x", "ls > {{d}}", "ls > {{a}}", "ls -- -{{a}}"]
    {
        assert!(read(template).is_ok(), "{template}: {:?}", read(template).err());
    }
}

#[test]
fn scripts_of_interpreters_may_receive_values() {
    for template in [
        "python3 tool.py {{a}}",
        "python3 -m tool {{a}}",
        "python3 -c 'import sys; print(sys.argv)' {{a}}",
        "node tool.js {{a}}",
        "bash ./tool.sh {{a}}",
        "sh -c 'echo \"$1\"' sh {{a}}",
        "awk -v x={{a}} '{ print x }' f",
        "awk '{ print }' {{a}}",
        "sed -n 1,5p {{a}}",
        "env A=1 ls {{a}}",
        "timeout 5 ls {{a}}",
        "git log --author={{a}} -- {{b}}",
        "find {{a}} -name {{b}} -exec ls {} \\;",
        "make build && ./run {{a}}",
        "npx prettier {{a}}",
        "jq .name {{a}}",
        "set -eu -o pipefail; ls {{a}}",
        "git switch -c {{a}}",
        "git -C x commit -c {{a}}",
        "sed -e p -e q {{a}}",
        "perl -e 'print @ARGV' {{a}}",
        "perl -MData::Dumper tool.pl {{a}}",
        "perl -ne print < {{a}}",
        "python3 tool.py -c {{a}}",
        "node tool.js -e {{a}}",
        "sh -c 'echo \"$2\"' name -c {{a}}",
        "cat {{a}} | awk -f x.awk -",
        "docker exec box ls {{a}}",
        "awk '{ print $1 }' {{a}} | cut -d '$1' -f 2",
        "ls {{a}} \"$HOME\" $? $$",
    ] {
        assert!(read(template).is_ok(), "{template}: {:?}", read(template).err());
    }
}

proptest! {
    #[test]
    fn every_value_is_one_literal_argument_of_the_line(
        value in "[^\\x00-][^\\x00]{0,40}|[-'\"\\\\$`;|&<>(){}\\[\\]*?~# \\n\\t!a=]{0,12}",
    ) {
        let values = json!({ "a": value });
        for template in ["x {{a}}", "x '{{a}}' | y", "x k={{a}} || true", "(x \"{{a}}\"); y"] {
            let Ok(filled) = read(template).unwrap().fill(CallValues(&values)) else {
                prop_assert!(value.starts_with('-'));
                continue;
            };
            prop_assert!(filled.parameters.iter().any(|it| it.ends_with(&value)));
            // In the line that policy checks, the value is one literal word as well.
            let lexed = lex(&filled.line, ShellDialect::Posix);
            prop_assert!(lexed.gave_up.is_none(), "{}", filled.line);
            let words: Vec<Word> = lexed.reading.commands.iter().flat_map(|it| &it.words)
                .map(|it| Word::read(it.of(&filled.line), None))
                .collect();
            let is_it = |word: &Word| word.literal().is_some_and(|it| it == value || it == format!("k={value}"));
            prop_assert!(words.iter().any(is_it), "{} {words:?}", filled.line);
        }
    }
}
