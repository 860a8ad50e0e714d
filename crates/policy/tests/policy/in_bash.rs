//! A real bash runs the lines that policy allows. Its programs only record their names. Only programs that the
//! rules name may be recorded, and no file may be written. `fuzz/` does the same for longer.

use std::collections::HashSet;

use toolwright_bash_recorder::{
    RecordingBash,
    command_lines::{Dice, STARTS, line},
};

#[test]
fn programs_that_are_not_allowed_would_be_recorded() {
    let bash = RecordingBash::new();
    let line = "git status; ls | xargs -n1 rm; bash -c evil > f; (python3 x &> /dev/null &)";
    let (recorded, files) = bash.run(line, "60");
    let expected = ["git status", "ls ", "rm ", "evil ", "python3 x"].map(str::to_owned).into();
    assert_eq!((recorded, files), (expected, vec!["f".to_owned()]));
}

#[test]
fn allowed_lines_run_nothing_but_the_allowed_programs() {
    // Set `TOOLWRIGHT_FUZZ_LINES=100000` for a long run.
    let wanted = std::env::var("TOOLWRIGHT_FUZZ_LINES").ok().and_then(|it| it.parse().ok());
    let wanted: usize = wanted.unwrap_or(250);
    let seed = std::env::var("TOOLWRIGHT_FUZZ_SEED").ok().and_then(|it| it.parse().ok());
    let bash = RecordingBash::new();
    let mut dice = Dice(seed.unwrap_or(0x9e37_79b9_7f4a_7c15));
    let mut run = HashSet::new();
    for start in STARTS {
        assert!(bash.allows(start), "{start:?} should be allowed");
    }
    while run.len() < wanted {
        let line = line(&mut dice);
        if bash.allows(&line) && run.insert(line.clone()) {
            bash.check_allowed(&line);
        }
    }
}
