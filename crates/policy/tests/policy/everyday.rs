//! Lines that developers run every day, with the rules they would write: which lines are allowed, and which ask
//! and why.

use serde_json::json;
use toolwright_policy::{
    Action::{Allow, Ask},
    LintKind,
};

use crate::commands::engine;

/// The rules of a project in JavaScript.
const NODE: &[&str] = &[
    "Bash(npm test:*)",
    "Bash(npm run:*)",
    "Bash(npx tsc:*)",
    "Bash(node:*)",
    "Bash(git status:*)",
    "Bash(git diff:*)",
    "Bash(git log:*)",
    "Bash(git ls-files:*)",
    "Bash(git rev-parse:*)",
    "Bash(ls:*)",
    "Bash(cat:*)",
    "Bash(head:*)",
    "Bash(tail:*)",
    "Bash(wc:*)",
    "Bash(grep:*)",
    "Bash(echo:*)",
    "Bash(printf:*)",
    "Bash(cd:*)",
    "Bash(pwd)",
    "Bash(sort:*)",
    "Bash(mv:*)",
    "Bash(cp:*)",
    "Bash(mkdir:*)",
    "Bash(sleep:*)",
    "Bash(date:*)",
    "Bash(xargs:*)",
    "Bash(basename:*)",
    "Bash(dirname:*)",
    "Bash(which:*)",
    "Bash(jq:*)",
    "Bash(curl:*)",
    "Bash(sed:*)",
    "Bash(diff:*)",
    "Bash(seq:*)",
    "Edit(./**)",
];

/// The rules of other projects.
const OTHERS: &[&str] = &[
    "Bash(cargo test:*)",
    "Bash(cargo build:*)",
    "Bash(cargo clippy:*)",
    "Bash(cargo run:*)",
    "Bash(go test:*)",
    "Bash(go build:*)",
    "Bash(make:*)",
    "Bash(python3:*)",
    "Bash(pytest:*)",
    "Bash(docker ps:*)",
    "Bash(docker images:*)",
    "Bash(docker logs:*)",
    "Bash(docker build:*)",
    "Bash(docker compose:*)",
    "Bash(kubectl get:*)",
    "Bash(kubectl describe:*)",
    "Bash(kubectl logs:*)",
    "Bash(bundle exec rspec:*)",
    "Bash(FOO=bar npm test:*)",
    "Bash(DATABASE_URL=* npm run migrate:*)",
    "Bash(time make:*)",
    "Bash(echo:*)",
    "Bash(tail:*)",
    "Bash(head:*)",
];

/// Rules and a line that they allow.
const ALLOWED: &[(&[&str], &str)] = &[
    // Time, tests, negations.
    (NODE, "time npm test"),
    (NODE, "time -p npm test 2>&1 | tail -20"),
    (NODE, "! git diff --quiet"),
    (NODE, "[[ -f x ]] && npm test"),
    (NODE, "[[ -f package.json && ! -d node_modules ]] || npm test"),
    (NODE, "[[ \"$x\" == *.ts ]] && cat \"$x\""),
    (NODE, "[[ -z \"$CI\" ]] && echo local"),
    (NODE, "[[ $x =~ ^[0-9]+$ ]] && echo number"),
    (NODE, "[[ $x =~ ^(feat|fix): ]] && echo fine"),
    (NODE, "[[ $? -eq 0 ]] && echo fine"),
    (NODE, "[[ $# -gt 1 && ${#x} -lt 5 ]] && echo fine"),
    (NODE, "[[ a < b || ( -e x && -r y ) ]] && ls"),
    (NODE, "[[ -v CI ]] && npm test"),
    (NODE, "[ -f x ] && npm test"),
    (NODE, "[ -n \"$CI\" ] && npm test"),
    (NODE, "[ \"$x\" = \"$y\" ] || ls"),
    (NODE, "[ ! -d \"$dir\" ] && mkdir -p dist"),
    (NODE, "if [ $? -ne 0 ]; then echo failed; fi"),
    (NODE, "test -d node_modules || npm run setup"),
    // Arithmetic and expansions.
    (NODE, "echo $((1+2))"),
    (NODE, "echo \"$((60 * 60 * 24)) seconds\""),
    (NODE, "head -n $(( (3 + 4) * 2 )) x"),
    (NODE, "echo ${x:-d}"),
    (NODE, "echo \"${x:-d}\" \"${y-e}\" \"${z:+f}\""),
    (NODE, "for f in *.ts; do mv \"$f\" \"${f%.ts}.js\"; done"),
    (NODE, "for f in src/*.ts; do echo \"${f##*/}\"; done"),
    (NODE, "sha=$(git rev-parse HEAD); echo ${sha:0:7}"),
    (NODE, "echo ${x/a/b} ${x//a/b} ${x^^} ${x,,} ${#x}"),
    (NODE, "echo ${x:-$(git rev-parse HEAD)}"),
    (NODE, "ls \"${dir:-$HOME/x}\""),
    (NODE, "echo ${1:-\"a b\"}"),
    (NODE, "grep $'\\t' x"),
    // Variables.
    (NODE, "NODE_ENV=test npm test"),
    (NODE, "CI=1 FORCE_COLOR=0 npm test"),
    (NODE, "DEBUG=app:* npm test"),
    (NODE, "PORT=3000 npm run dev"),
    (NODE, "TZ=UTC LANG=C npm test"),
    (NODE, "LOG_LEVEL=debug npm test 2>&1 | tail -5 || true"),
    (NODE, "export NODE_ENV=test && npm test"),
    (NODE, "export CI=1 NODE_ENV=test; npm test"),
    (NODE, "env NODE_ENV=test npm test"),
    (NODE, "name=x; mkdir \"$name\" && cd \"$name\""),
    (NODE, "for f in src/*.ts lib/a.ts; do mv \"$f\" \"${f%.ts}.js\" && mv $f out/${f}; done"),
    (OTHERS, "RUST_LOG=debug cargo test"),
    (OTHERS, "RUST_BACKTRACE=1 cargo test -- --nocapture 2>&1 | tail -50"),
    (OTHERS, "RUST_LOG=info,hyper=warn cargo run --release"),
    (OTHERS, "CARGO_TERM_COLOR=never cargo clippy --all-targets"),
    (OTHERS, "GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go build ./..."),
    (OTHERS, "PYTHONUNBUFFERED=1 pytest -x"),
    (OTHERS, "RAILS_ENV=test bundle exec rspec"),
    (OTHERS, "FOO=bar npm test"),
    (OTHERS, "FOO=bar CI=1 npm test --watch=false"),
    (OTHERS, "FOO='bar' npm test && FOO=bar npm test"),
    (OTHERS, "env FOO=bar npm test"),
    (OTHERS, "DATABASE_URL=postgres://localhost/x npm run migrate up"),
    (OTHERS, "time make -j4 2>&1 | tail -20"),
    // Redirections and documents.
    (NODE, "cat 2>/dev/null a.txt"),
    (NODE, "grep -r TODO 2>/dev/null src | head -20"),
    (NODE, "npm test > /dev/null 2>&1 && echo ok"),
    (NODE, "npm test 2>&1 | tail -20"),
    (NODE, "npm run build &> /dev/null || echo failed"),
    (NODE, "npm test > out.txt"),
    (NODE, "cat > notes.md <<'EOF'\n# Notes\n$(not run)\nEOF"),
    (NODE, "cat <<EOF > notes.md\nhome is $HOME, name is ${name:-none}, costs \\$5\nEOF"),
    (NODE, "cat <<EOF 2>/dev/null | grep x\nit's $x\nEOF"),
    (NODE, "grep x <<< \"$text\""),
    (NODE, "wc -l < package.json"),
    (NODE, "diff <(git log -1) <(git log -2)"),
    (OTHERS, "python3 - <<'EOF'\nprint('a; b')\nEOF"),
    (OTHERS, "python3 - <<'EOF' 2>&1 | head -5\nimport sys\nprint(sys.argv[1:])\nEOF\n"),
    (OTHERS, "python3 -c \"import sys; print(sys.version)\""),
    // Lists, pipes, groups, loops.
    (NODE, "npm test || true"),
    (NODE, "npm run lint && npm run build && echo ok"),
    (NODE, "cd packages/a && npm test"),
    (NODE, "(cd packages/a; npm test)"),
    (NODE, "(cd packages/a && npm test) && (cd packages/b && npm test)"),
    (NODE, "{ npm test; npm run lint; } 2>&1 | tail -5"),
    (NODE, "npm run dev &"),
    (NODE, "sleep 1; curl -s localhost:3000 | jq ."),
    (NODE, "echo \"$(git rev-parse --short HEAD) $(date +%F)\""),
    (NODE, "ls \"$HOME/x\" ~/y"),
    (NODE, "git log --oneline -5 | cat"),
    (NODE, "git ls-files '*.ts' | xargs wc -l | sort -n | tail -5"),
    (NODE, "git ls-files | xargs -n 1 basename | sort -u"),
    (NODE, "git diff --name-only | xargs -I{} head -1 {}"),
    (NODE, "npm run dev & sleep 2; wait"),
    (NODE, "for i in 1 2 3; do npm test || break; done"),
    (NODE, "for i in $(seq 1 5); do echo $i; done"),
    (NODE, "for f in *.ts; do\n  echo \"$f\"\n  head -1 \"$f\"\ndone"),
    (NODE, "while read -r f; do wc -l \"$f\"; done < files.txt"),
    (NODE, "git ls-files | while IFS= read -r f; do head -1 \"$f\"; done"),
    (NODE, "while IFS=, read -r a b; do echo \"$a\"; done < x.csv"),
    (NODE, "until curl -s localhost:3000; do sleep 1; done"),
    (NODE, "if npm test; then echo ok; else echo failed; exit 1; fi"),
    (NODE, "if [[ -d dist ]]; then ls dist; elif [ -d out ]; then ls out; fi"),
    (NODE, "case \"$x\" in\n  a|b) npm test ;;\n  *.ts) cat \"$x\" ;;\n  *) echo none ;;\nesac"),
    (NODE, "case $(git rev-parse HEAD) in abc*) echo yes;; esac"),
    (NODE, "set -euo pipefail; npm test | tail -5"),
    (NODE, "npm test # and nothing else"),
    (NODE, "npm run build \\\n  --workspace a \\\n  && npm test"),
    (NODE, "timeout 60 npm test"),
    (NODE, "nohup npm run dev > /dev/null 2>&1 &"),
    (NODE, "bash -c 'cd x && npm test'"),
    (NODE, "command -v node && which npm"),
    (NODE, "printf '%s\\n' \"${x:-a}\" b"),
    // A command that only prints needs no rule if a rule allows the rest of the line.
    (&["Bash(npm test:*)"], "npm test && echo ok || echo \"failed: $?\""),
    (&["Bash(npm test:*)"], "npm test > /dev/null 2>&1; echo $?"),
    (&["Bash(git log:*)"], "git log | cat"),
    (&["Bash(git commit:*)"], "git commit -m \"$(cat <<'EOF'\nfix: it's `done`\n\n$x\nEOF\n)\""),
    (&["Bash(curl:*)"], "sleep 2 && curl localhost:3000"),
    // Programs with subcommands.
    (OTHERS, "docker ps"),
    (OTHERS, "docker ps -a --format '{{.Names}}'"),
    (OTHERS, "docker images | head -5"),
    (OTHERS, "docker logs --tail 50 app 2>&1 | tail -20"),
    (OTHERS, "docker build -t app:latest ."),
    (OTHERS, "docker compose ps"),
    (OTHERS, "docker compose -f dev.yml up -d"),
    (OTHERS, "kubectl get pods"),
    (OTHERS, "kubectl get pods -n prod -o json"),
    (OTHERS, "kubectl describe pod x && kubectl logs x --tail=20"),
];

#[test]
fn everyday_lines_are_allowed_without_asking() {
    assert!(ALLOWED.len() >= 100, "{}", ALLOWED.len());
    let mut wrong = Vec::new();
    for (rules, line) in ALLOWED {
        let verdict =
            engine(&json!({ "allow": rules })).evaluate("Bash", &json!({ "command": line }));
        if verdict.action != Allow {
            wrong.push(format!("{line:?}: {}", verdict.reason));
        }
    }
    assert!(wrong.is_empty(), "{} ask:\n{}", wrong.len(), wrong.join("\n"));
}

/// Rules, a line that still asks, and a part of the reason.
const ASKED: &[(&[&str], &str, &str)] = &[
    // Variables that decide what is run, and unknown variables.
    (NODE, "PATH=./bin npm test", "sets `PATH`, which decides which programs"),
    (NODE, "LD_PRELOAD=./x.so npm test", "sets `LD_PRELOAD`, which decides"),
    (NODE, "DYLD_INSERT_LIBRARIES=x npm test", "sets `DYLD_INSERT_LIBRARIES`, which decides"),
    (NODE, "GIT_SSH_COMMAND='sh -c x' git log", "sets `GIT_SSH_COMMAND`, which decides"),
    (NODE, "NODE_OPTIONS='-r ./x' npm test", "sets `NODE_OPTIONS`, which decides"),
    (NODE, "npm_config_script_shell=./x npm test", "sets `npm_config_script_shell`"),
    (NODE, "PAGER=./x git log", "sets `PAGER`, which decides"),
    (NODE, "https_proxy=evil:80 curl x", "sets `https_proxy`, which may decide what is conn"),
    (OTHERS, "RUSTC_WRAPPER=./x cargo test", "sets `RUSTC_WRAPPER`, which decides"),
    (OTHERS, "RUSTFLAGS='-C linker=./x' cargo test", "sets `RUSTFLAGS`, which decides"),
    (OTHERS, "PYTHONSTARTUP=x python3 y.py", "sets `PYTHONSTARTUP`, which decides"),
    (OTHERS, "PYTEST_ADDOPTS='-p evil' pytest", "sets `PYTEST_ADDOPTS`"),
    (OTHERS, "CC=./x make", "sets `CC`, which decides"),
    (OTHERS, "RAILS_ENV=../../x bundle exec rspec", "sets `RAILS_ENV`"),
    (OTHERS, "KUBECONFIG=./x kubectl get pods", "sets `KUBECONFIG`, which decides"),
    (NODE, "FOO=bar npm test", "sets `FOO`, which may change what other commands do"),
    (OTHERS, "FOO=baz npm test", "sets `FOO`"),
    (OTHERS, "FOO=$x npm test", "sets `FOO`"),
    (OTHERS, "FOO=bar PATH=x npm test", "sets `PATH`"),
    (OTHERS, "env FOO=baz npm test", "sets `FOO`"),
    (OTHERS, "FOO=bar timeout 5 npm test", "sets `FOO`"),
    (NODE, "env PATH=x npm test", "sets `PATH`"),
    (NODE, "export PATH=./bin:$PATH && npm test", "uses `export`, which sets variables"),
    (NODE, "export FOO=bar && npm test", "uses `export`, which sets variables"),
    (NODE, "FOO=bar; npm test", "sets `FOO`"),
    (NODE, "FOO=$(rm x) npm test", "sets `FOO`"),
    (NODE, "CI=$(rm x) npm test", "no rule allows `rm x`"),
    (NODE, "IFS=x npm test", "sets `IFS`"),
    (NODE, "IFS=x; read -r a", "sets `IFS`"),
    (NODE, "read -r PATH < x; ls", "uses `read`, which may set a variable"),
    (NODE, "read -r 'a[$(rm x)]'; ls", "uses `read`, which may set a variable"),
    (NODE, "while read -r LD_PRELOAD; do ls; done", "uses `read`"),
    // Words that are evaluated as code.
    (NODE, "echo $((a[$(rm x)]))", "arithmetic with more than numbers"),
    (NODE, "echo $((x + 1))", "arithmetic with more than numbers"),
    (NODE, "((x++)); ls", "arithmetic"),
    (NODE, "for ((i=0; i<3; i++)); do ls; done", "arithmetic"),
    (NODE, "[[ $(rm x) ]]", "no rule allows `rm x`"),
    (NODE, "[[ a -eq 'b[$(rm x)]' ]]", "compares numbers"),
    (NODE, "[[ $x -gt 5 ]] && ls", "compares numbers"),
    (NODE, "[[ -v 'a[$(rm x)]' ]] && ls", "a variable by a name that may hold code"),
    (NODE, "[ $x = a ] && ls", "uses `[`, which has an operand without quotes"),
    (NODE, "test \"$x\" \"$y\" && ls", "uses `test`, which may evaluate"),
    (NODE, "test -v 'a[$(rm x)]' && ls", "uses `test`, which may evaluate"),
    (NODE, "echo ${x:-$(rm x)}", "no rule allows `rm x`"),
    (NODE, "echo ${x@P}", "`${…@…}`, which can run code"),
    (NODE, "echo ${!x}", "`${!…}`"),
    (NODE, "echo ${a[0]}", "an array"),
    (NODE, "echo ${x:=d}", "`${…=…}`, which sets a variable"),
    (NODE, "echo ${x:i}", "at a place that is evaluated"),
    (NODE, "cat <<EOF\n$(rm x)\nEOF", "here-document with a command substitution"),
    (NODE, "echo `git log`", "backtick substitution; write `$(…)`"),
    (NODE, "f() { npm test; }; f", "defines a function"),
    (NODE, "function f { npm test; }; f", "defines a function"),
    (NODE, "time (npm test)", "uses `(` in a way"),
    (NODE, "time FOO=bar npm test", "`time` with more than a plain command"),
    (NODE, "case x in x) rm y;; esac", "no rule allows `rm y`"),
    (NODE, "source .venv/bin/activate && npm test", "uses `source`, which runs another script"),
    (NODE, "trap 'rm x' EXIT; npm test", "uses `trap`, which runs code at another time"),
    // Programs that run others.
    (OTHERS, "docker run --rm alpine rm x", "no rule allows `docker run"),
    (OTHERS, "docker exec app sh", "no rule allows `docker exec"),
    (OTHERS, "docker compose exec app sh", "no rule allows `docker compose exec"),
    (OTHERS, "docker compose run app sh", "no rule allows `docker compose run"),
    (OTHERS, "docker --config ./x ps", "no rule allows `docker --config"),
    (OTHERS, "kubectl exec x -- sh", "no rule allows `kubectl exec"),
    (OTHERS, "kubectl get pods --kubeconfig=./x", "no rule allows `kubectl get"),
    (OTHERS, "kubectl get pods $x", "no rule allows `kubectl get"),
    (NODE, "time rm x", "no rule allows `rm x`"),
    (&["Bash(npm test:*)"], "npm test && echo $SECRET", "no rule allows `echo $SECRET`"),
    (&["Bash(npm test:*)", "Edit(./**)"], "npm test; echo x > y", "no rule allows `echo x`"),
    (&["Bash(npm test:*)"], "npm test; cat < .env", "no rule allows `cat`"),
    (&["Bash(npm test:*)"], "echo ok", "no rule allows `echo ok`"),
    (&["Bash(npm test:*)"], "cat | sh; npm test", "no rule allows `sh`"),
    (NODE, "cat 2>/dev/null a; rm x", "no rule allows `rm x`"),
];

#[test]
fn lines_that_ask_give_the_right_reason() {
    let mut wrong = Vec::new();
    for (rules, line, expected) in ASKED {
        let verdict =
            engine(&json!({ "allow": rules })).evaluate("Bash", &json!({ "command": line }));
        if verdict.action != Ask || !verdict.reason.contains(expected) {
            wrong.push(format!("{line:?}: {:?} {}", verdict.action, verdict.reason));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_linter_explains_rules_that_can_never_allow() {
    for (rule, expected) in [
        ("Bash(docker run:*)", Some("runs what its arguments say")),
        ("Bash(docker exec app:*)", Some("runs what its arguments say")),
        ("Bash(docker compose exec:*)", Some("runs what its arguments say")),
        ("Bash(kubectl exec:*)", Some("runs what its arguments say")),
        ("Bash(FOO=bar ssh:*)", Some("runs what its arguments say")),
        ("Bash(source:*)", Some("changes what later commands mean")),
        ("Bash(docker ps:*)", None),
        ("Bash(docker compose up:*)", None),
        ("Bash(docker exec app npm test)", None),
        ("Bash(kubectl get:*)", None),
        ("Bash(FOO=bar npm test:*)", None),
        ("Bash(time npm test:*)", None),
    ] {
        let found = engine(&json!({ "allow": [rule] })).lint();
        let never = found.iter().find(|it| it.kind == LintKind::WithoutEffect);
        match expected {
            Some(reason) => {
                assert!(never.is_some_and(|it| it.message.contains(reason)), "{rule}: {found:?}");
            }
            None => assert!(found.is_empty(), "{rule}: {found:?}"),
        }
    }
    let broad = engine(&json!({ "allow": ["Bash(docker:*)"] })).lint();
    assert!(broad.iter().any(|it| it.message.contains("that run no other program")), "{broad:?}");
}

#[test]
fn a_limit_that_names_a_variable_applies_only_with_that_value() {
    let policy = json!({
        "allow": ["Bash(npm:*)"],
        "deny": ["Bash(NODE_ENV=production npm run:*)", "Bash(export:*)"],
    });
    let engine = engine(&policy);
    for (line, expected) in [
        ("NODE_ENV=production npm run x", "Deny"),
        ("env NODE_ENV=production npm run x", "Deny"),
        ("NODE_ENV=test npm run x", "Allow"),
        ("NODE_ENV=$x npm run x", "Ask"),
        ("npm run x", "Allow"),
        ("export CI=1; npm test", "Deny"),
    ] {
        let verdict = engine.evaluate("Bash", &json!({ "command": line }));
        assert_eq!(format!("{:?}", verdict.action), expected, "{line}: {}", verdict.reason);
    }
}

/// In all of these lines the variable may hold the name of a protected place.
#[test]
fn a_variable_is_a_plain_name_only_if_the_line_allows_no_other_value() {
    let engine = engine(&json!({ "allow": ["Bash(mv:*)", "Bash(echo:*)", "Bash(true:*)"] }));
    for line in [
        "mv a \"$f\"",
        "mv a \"$f\"; for f in x; do true; done",
        "for f in x; do true; done; mv a \"$f\"",
        "for f in .git/*; do mv a \"$f\"; done",
        "for f in .*; do mv a \"$f\"; done",
        "for f in ../*; do mv a \"$f\"; done",
        "for f in a/.git; do mv a \"$f\"; done",
        "for f in /x; do mv a \"$f\"; done",
        "for f in -t.git; do mv a \"$f\"; done",
        "for f in $x; do mv a \"$f\"; done",
        "for f in {x,.git}; do mv a \"$f\"; done",
        "for f in x; do f=.git; mv a \"$f\"; done",
        "for f in x; do for f in .git; do mv a \"$f\"; done; done",
        "for f in x; do mv a \"${f#x}.git\"; done",
        "for f in x; do mv a \"${f%x}.git\"; done",
        "for f in x; do mv a \".git/$f\"; done",
        "for f in x; do mv a \"$g$f\"; done",
        "for f in x; do mv a \"$ff\"; done",
        "for f in x; do mv a \"${f:-.git}\"; done",
        "true && f=x; mv a \"$f\"",
        "f=x & mv a \"$f\"",
        "f=x | true; mv a \"$f\"",
        "f=x; f=.git; mv a \"$f\"",
        "f=x; f+=/../.git; mv a \"$f\"",
        "f=x; read f; mv a \"$f\"",
        "f=x; eval f=.git; mv a \"$f\"",
        "f=x; echo ${f:=y}; mv a \"$f\"",
        "f=.git; mv a \"$f/hooks\"",
    ] {
        let verdict = engine.evaluate("Bash", &json!({ "command": line }));
        assert_ne!(verdict.action, Allow, "{line}");
    }
}
