//! The program of the supervisor. Cargo gives its path only to the tests of its own package, so it is built
//! on demand, with the profile of the test that needs it.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The path of the supervisor. The first call builds it, which is quick if it is up to date.
pub fn supervisor_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        // A test is `<target directory>/[<triple>/]<profile>/deps/<name>-<hash>`.
        let test = env::current_exe().unwrap();
        let folder = test.ancestors().nth(2).unwrap();
        let is_target_directory = |it: &&Path| it.join("CACHEDIR.TAG").is_file();
        let target_directory = folder.ancestors().find(is_target_directory).unwrap();
        let below = folder.strip_prefix(target_directory).unwrap();
        let names: Vec<&str> = below.iter().filter_map(|it| it.to_str()).collect();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "toolwright-supervisor"]);
        build.arg("--target-dir").arg(target_directory);
        if let [triple, _] = names.as_slice() {
            build.args(["--target", triple]);
        }
        build.args(["--profile", names.last().map_or("dev", |it| profile(it))]);
        let end = build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap();
        assert!(end.success(), "cargo could not build the supervisor");
        folder.join("toolwright-supervisor")
    })
}

/// The profile whose output is in a folder of this name.
fn profile(folder: &str) -> &str {
    if folder == "debug" { "dev" } else { folder }
}
