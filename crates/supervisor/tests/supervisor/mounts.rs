//! The mounts of a sandbox in namespaces: hidden, read-only, missing and opened paths, for root and
//! for an ordinary user.

use std::{fs, os::unix::fs::MetadataExt as _, path::PathBuf};

use pretty_assertions::assert_eq;

use crate::sandbox_bed::{
    HiddenPlace, MissingPlace, PlaceKind, SandboxBed, SandboxLevel, SandboxPlan, WritablePlaces,
    plan, users,
};

fn hidden(path: PathBuf, kind: PlaceKind) -> SandboxPlan {
    SandboxPlan { hidden: vec![HiddenPlace { path, kind }], ..plan() }
}

#[test]
fn a_command_sees_only_its_own_processes() {
    for user in users() {
        let bed = SandboxBed::of(user);
        assert_eq!(bed.level, SandboxLevel::Namespaces, "{user:?}");
        let seen = bed.run(&plan(), "cd /proc; echo [0-9]*; echo $$ $PPID").with_code(0);
        assert_eq!(seen, "1 2\n2 1\n", "{user:?}");
    }
}

#[test]
fn a_hidden_file_cannot_be_read_or_changed() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let secret = bed.write("project/deep/.env", "hush\n");
        bed.write("project/other", "open\n");
        let plan = hidden(secret.clone(), PlaceKind::File);
        for attempt in [
            "cat project/deep/.env",
            "cd project/deep && cat .env",
            "cat /proc/self/cwd/project/deep/.env",
            "cat /proc/self/root$PWD/project/deep/.env",
            "cat /proc/1/root$PWD/project/deep/.env",
            "ln project/deep/.env copy; cat copy",
            "ln -s project/deep/.env link; cat link",
            "mv project/deep/.env moved; cat moved",
            "mv project/deep project/deeper; cat project/deeper/.env",
            "mv project other-project; cat other-project/deep/.env",
            "rm -f project/deep/.env; cat project/deep/.env",
            "rm -rf project; cat project/deep/.env",
            "cp -r project copied; cat copied/deep/.env",
            "tar c project | tar xO",
            "umount project/deep/.env; cat project/deep/.env",
            "umount -l project/deep/.env; cat project/deep/.env",
            "mount --bind project/other project/deep/.env; cat project/deep/.env",
            "mkdir elsewhere; mount --bind project elsewhere; cat elsewhere/deep/.env",
            "unshare -Urm sh -c 'umount project/deep/.env; umount -l project/deep; cat project/deep/.env'",
            "mkdir e2; unshare -Urm sh -c 'mount --bind project e2; cat e2/deep/.env; mount --rbind project e2; cat e2/deep/.env'",
            "mkdir e3; unshare -Urm sh -c 'mount -t overlay -o lowerdir=project:/ none e3 && cat e3/deep/.env'",
            "unshare -m cat project/deep/.env",
            "nsenter -t 1 -m cat project/deep/.env",
            "nsenter -t 1 -a cat project/deep/.env",
            "for f in /proc/[0-9]*/root; do cat $f/$PWD/project/deep/.env; done",
            "chmod 666 project/deep/.env; cat project/deep/.env",
            "exec 3< project/deep/.env; cat <&3",
            "dd if=project/deep/.env",
            "mkdir r; chroot r cat /.env; unshare -Ur chroot . cat project/deep/.env",
        ] {
            let text = bed.run(&plan, attempt).text;
            assert!(!text.contains("hush"), "{user:?}: {attempt}: {text}");
            assert_eq!(fs::read_to_string(&secret).unwrap(), "hush\n", "{user:?}: {attempt}");
        }
        let text = bed.run(&plan, "cat project/deep/.env").with_code(1);
        assert_eq!(text, "cat: project/deep/.env: Permission denied\n", "{user:?}");
        // The next command without such a plan can read it.
        assert_eq!(bed.run(&self::plan(), "cat project/deep/.env").with_code(0), "hush\n");
    }
}

#[test]
fn a_hidden_directory_cannot_be_read_or_changed() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let secret = bed.write("project/secrets/key", "hush\n");
        let more = bed.write("project/more/key", "hush\n");
        let plan = SandboxPlan {
            hidden: [&secret, &more]
                .map(|it| HiddenPlace {
                    path: it.parent().unwrap().to_owned(),
                    kind: PlaceKind::Directory,
                })
                .into(),
            ..plan()
        };
        for attempt in [
            "cat project/secrets/key project/more/key",
            "find project",
            "cd project/secrets && cat key",
            "mv project/secrets gone; cat gone/key",
            "echo changed > project/secrets/key",
            "mkdir -p project/secrets/new",
            "rmdir project/secrets; chmod 777 project/secrets; ls project/secrets",
        ] {
            let text = bed.run(&plan, attempt).text;
            assert!(!text.contains("hush"), "{user:?}: {attempt}: {text}");
            assert!(!text.contains("key\n"), "{user:?}: {attempt}: {text}");
            assert_eq!(fs::read_to_string(&secret).unwrap(), "hush\n", "{user:?}: {attempt}");
        }
        assert_eq!(fs::read_dir(secret.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn read_only_files_can_be_read_but_not_changed() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let hook = bed.write("project/.git/hooks/pre-commit", "kept\n");
        let config = bed.write("project/.git/config", "kept\n");
        bed.write("project/.git/index", "old\n");
        let hooks = hook.parent().unwrap().to_owned();
        let plan = SandboxPlan { read_only: vec![hooks.clone(), config.clone()], ..plan() };
        for attempt in [
            "echo changed > project/.git/hooks/pre-commit",
            "echo changed >> project/.git/config",
            "echo new > project/.git/hooks/post-commit",
            "rm -rf project/.git/hooks project/.git/config",
            "mv project/.git/hooks project/.git/h2; mkdir -p project/.git/hooks; echo n > project/.git/hooks/n",
            "mv project/.git project/.g; mkdir -p project/.git/hooks; echo n > project/.git/hooks/n",
            "mv project p2; mkdir -p project/.git/hooks; echo n > project/.git/hooks/n",
            "echo n > new; mv -f new project/.git/config",
            "ln -f project/.git/index project/.git/config",
            "ln -sfn /tmp project/.git/hooks",
            "chmod 777 project/.git/config && echo changed > project/.git/config",
            "mount -o remount,rw project/.git/hooks; echo n > project/.git/hooks/n",
            "unshare -Urm sh -c 'mount -o remount,bind,rw project/.git/hooks; echo n > project/.git/hooks/n'",
            "unshare -Urm sh -c 'umount project/.git/hooks; echo n > project/.git/hooks/n'",
            "truncate -s0 project/.git/config; touch project/.git/config",
            "ln project/.git/config c; echo changed > c",
            "echo changed > /proc/self/cwd/project/.git/config",
            "unshare -Ur setfattr -n user.x -v y project/.git/config; rm project/.git/config",
        ] {
            bed.run(&plan, attempt);
            assert_eq!(fs::read_to_string(&hook).unwrap(), "kept\n", "{user:?}: {attempt}");
            assert_eq!(fs::read_to_string(&config).unwrap(), "kept\n", "{user:?}: {attempt}");
            assert_eq!(fs::read_dir(&hooks).unwrap().count(), 1, "{user:?}: {attempt}");
            assert!(!fs::symlink_metadata(&hooks).unwrap().is_symlink(), "{user:?}: {attempt}");
        }
        let rest = "cat project/.git/hooks/*; echo new > project/.git/index; mkdir project/x; mv project/x y; cat project/.git/index";
        assert_eq!(bed.run(&plan, rest).with_code(0), "kept\nnew\n", "{user:?}");
    }
}

#[test]
fn opened_files_inside_read_only_directories_can_be_changed() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let config = bed.write("project/.git/config", "old\n");
        let inner = bed.write("project/held/inner/file", "old\n");
        bed.write("project/held/other", "old\n");
        let held = bed.home().join("project/held");
        let plan = SandboxPlan {
            read_only: vec![config.clone(), held.clone()],
            opened: vec![config.clone(), inner.parent().unwrap().to_owned()],
            ..plan()
        };
        let command = "cd project; echo new > .git/config.lock && mv .git/config.lock .git/config; \
            echo new > held/inner/file; echo new > held/inner/more; echo new > held/other";
        bed.run(&plan, command);
        assert_eq!(fs::read_to_string(&config).unwrap(), "new\n", "{user:?}");
        assert_eq!(fs::read_to_string(&inner).unwrap(), "new\n", "{user:?}");
        assert_eq!(fs::read_to_string(held.join("other")).unwrap(), "old\n", "{user:?}");
        assert!(held.join("inner/more").exists(), "{user:?}");
    }
}

#[test]
fn missing_paths_cannot_be_created_and_no_placeholder_remains() {
    for user in users() {
        let bed = SandboxBed::of(user);
        bed.write("project/.git/index", "");
        let hooks = bed.home().join("project/.git/hooks");
        let file = bed.home().join("project/.profile");
        let missing = |path: &PathBuf, kind| MissingPlace { path: path.clone(), kind };
        let plan = SandboxPlan {
            missing: vec![missing(&hooks, PlaceKind::Directory), missing(&file, PlaceKind::File)],
            ..plan()
        };
        for attempt in [
            "mkdir -p project/.git/hooks; echo n > project/.git/hooks/pre-commit",
            "echo n > project/.profile",
            "echo n > n; mv -f n project/.profile",
            "rm -rf project/.git/hooks project/.profile; mkdir project/.git/hooks && touch project/.git/hooks/x; echo n > project/.profile",
            "mv project p; mkdir -p project/.git/hooks; echo n > project/.profile",
            "ln -sfn /tmp project/.git/hooks; ln -sf /etc/passwd project/.profile",
            "unshare -Urm sh -c 'umount project/.profile; echo n > project/.profile'",
        ] {
            bed.run(&plan, attempt);
            assert!(!hooks.exists() && !file.exists(), "{user:?}: {attempt}");
        }
    }
}

#[test]
fn commands_share_a_placeholder_and_the_last_one_removes_it() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let path = bed.home().join("missing");
        let missing = vec![MissingPlace { path: path.clone(), kind: PlaceKind::File }];
        let plan = SandboxPlan { missing, ..plan() };
        let mut first = bed.start(Some(&plan), "echo ready; exec sleep 1000");
        first.wait_for("ready\n");
        let number = fs::metadata(&path).unwrap().ino();
        assert_eq!(fs::metadata(&path).unwrap().size(), 0);
        for _ in 0..5 {
            let text = bed.run(&plan, "echo n > missing; rm -f missing").text;
            assert!(text.contains("missing"), "{text}");
            assert_eq!(fs::metadata(&path).unwrap().ino(), number, "{user:?}");
        }
        first.stop(0);
        first.end();
        assert!(!path.exists(), "{user:?}");
    }
}

#[test]
fn a_placeholder_of_a_killed_keeper_is_reused_and_removed() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let path = bed.home().join("missing");
        for kind in [PlaceKind::File, PlaceKind::Directory] {
            let missing = vec![MissingPlace { path: path.clone(), kind }];
            let plan = SandboxPlan { missing, ..plan() };
            let mut first = bed.start(Some(&plan), "echo ready; exec sleep 1000");
            first.wait_for("ready\n");
            let keeper = rustix::process::Pid::from_raw(first.keeper.pid).unwrap();
            rustix::process::kill_process(keeper, rustix::process::Signal::KILL).unwrap();
            // The pipe ends once the sleeping program is gone.
            first.wait_for_end();
            assert!(path.exists(), "{user:?}");
            bed.run(&plan, "rm -rf missing; echo n > missing");
            assert!(!path.exists(), "{user:?}");
        }
        // A real file is not removed, even if it is empty.
        bed.write("missing", "");
        let missing = vec![MissingPlace { path: path.clone(), kind: PlaceKind::File }];
        bed.run(&SandboxPlan { missing, ..plan() }, "echo n > missing");
        assert_eq!(fs::read_to_string(&path).unwrap(), "", "{user:?}");
    }
}

#[test]
fn only_the_writable_directories_can_be_written() {
    for user in users() {
        let bed = SandboxBed::of(user);
        bed.write("project/file", "old\n");
        bed.write("other/file", "old\n");
        let held = bed.write("project/.git/config", "old\n");
        let plan = SandboxPlan {
            writable: WritablePlaces::Below(vec![bed.home().join("project")]),
            read_only: vec![held],
            ..plan()
        };
        let command = "echo new > project/file; echo new > other/file; echo new > project/.git/config; \
            echo new > file; : > /tmp/x-$$; : > /dev/shm/x-$$ && rm /dev/shm/x-$$; echo > /dev/null && \
            echo 0 > /proc/self/oom_score_adj && mkdir project/made && rm -r project/made && cat project/file other/file project/.git/config";
        let text = bed.run(&plan, command).text;
        let said: Vec<&str> =
            text.lines().filter(|it| !it.contains("Read-only file system")).collect();
        assert_eq!(said, ["new", "old", "old"], "{user:?}: {text}");
        assert_eq!(text.lines().count(), 3 + 4, "{user:?}: {text}");
    }
}

#[test]
fn a_command_is_not_started_if_a_path_cannot_be_protected() {
    for user in users() {
        let bed = SandboxBed::of(user);
        bed.write("real/file", "old\n");
        std::os::unix::fs::symlink("real", bed.home().join("link")).unwrap();
        let path = bed.home().join("link/file");
        let ended = bed.run(&SandboxPlan { read_only: vec![path.clone()], ..plan() }, "echo ran");
        let wanted = format!(
            "its sandbox cannot be made: `{}` cannot be made read-only: Too many levels of symbolic links (os error 40)",
            path.display()
        );
        assert_eq!(ended.report.sandbox_error, Some(wanted), "{user:?}");
        assert_eq!(ended.text, "", "{user:?}");
        // A hidden path that no longer exists is ignored.
        let gone = hidden(bed.home().join("gone"), PlaceKind::File);
        assert_eq!(bed.run(&gone, "echo ran").with_code(0), "ran\n", "{user:?}");
        // A read-only path that no longer exists must not be created.
        let gone = SandboxPlan { read_only: vec![bed.home().join("gone")], ..plan() };
        bed.run(&gone, "echo n > gone");
        assert!(!bed.home().join("gone").exists(), "{user:?}");
    }
}

#[test]
fn files_replaced_between_two_commands_are_still_protected() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let secret = bed.write("project/.env", "hush\n");
        let config = bed.write("project/.git/config", "kept\n");
        let home = bed.home();
        let missing =
            MissingPlace { path: home.join("project/.vscode"), kind: PlaceKind::Directory };
        let everywhere = SandboxPlan {
            hidden: vec![HiddenPlace { path: secret.clone(), kind: PlaceKind::File }],
            read_only: vec![config.clone()],
            missing: vec![missing],
            ..plan()
        };
        let writable = WritablePlaces::Below(vec![home.join("project")]);
        let below = SandboxPlan { writable, ..everywhere.clone() };
        for plan in [everywhere, below] {
            let attempt = "cat project/.env; echo n > project/.git/config; mkdir project/.vscode/x; \
                echo n > project/other && cat project/other";
            let check = |when: &str| {
                let text = bed.run(&plan, attempt).with_code(0);
                assert!(
                    text.ends_with("\nn\n") && !text.contains("hush"),
                    "{user:?} {when}: {text}"
                );
                assert_eq!(text.lines().count(), 4, "{user:?} {when}: {text}");
                assert_eq!(fs::read_to_string(&secret).unwrap(), "hush\n", "{user:?} {when}");
                assert_eq!(fs::read_to_string(&config).unwrap(), "kept\n", "{user:?} {when}");
                assert!(!home.join("project/.vscode/x").exists(), "{user:?} {when}");
            };
            for _ in 0..12 {
                // Often enough that the next sandboxes are prepared for this plan.
                check("before");
            }
            for _ in 0..4 {
                fs::rename(bed.write("new", "hush\n"), &secret).unwrap();
                fs::rename(bed.write("new", "kept\n"), &config).unwrap();
                check("after the files were replaced");
            }
            for _ in 0..4 {
                fs::rename(home.join("project"), home.join("old")).unwrap();
                bed.write("project/.env", "hush\n");
                bed.write("project/.git/config", "kept\n");
                check("after the directory was replaced");
                fs::remove_dir_all(home.join("old")).unwrap();
            }
            for _ in 0..4 {
                fs::remove_file(&secret).unwrap();
                bed.run(&plan, "true").with_code(0);
                bed.write("project/.env", "hush\n");
                check("after the file was made again");
            }
        }
    }
}

#[test]
fn nested_paths_are_protected_in_every_command() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let secret = bed.write("project/held/secret", "hush\n");
        let opened = bed.write("project/held/opened/file", "old\n");
        let held = bed.home().join("project/held");
        let plan = SandboxPlan {
            writable: WritablePlaces::Below(vec![held.clone(), bed.home().join("out")]),
            read_only: vec![held.clone()],
            hidden: vec![HiddenPlace { path: secret.clone(), kind: PlaceKind::File }],
            opened: vec![opened.parent().unwrap().to_owned()],
            ..plan()
        };
        bed.write("out/file", "");
        let command = "cd project/held; echo n > new; mkdir d; cat secret; rm -f secret; mv secret s; \
            echo \"$RANDOM\" > opened/file; echo ok > ../../out/file; echo n > ../n; cat ../../out/file";
        for _ in 0..10 {
            let text = bed.run(&plan, command).with_code(0);
            assert!(text.ends_with("\nok\n") && !text.contains("hush"), "{user:?}: {text}");
            let mut names: Vec<_> =
                fs::read_dir(&held).unwrap().map(|it| it.unwrap().file_name()).collect();
            names.sort();
            assert_eq!(names, ["opened", "secret"], "{user:?}: {text}");
            assert_ne!(fs::read_to_string(&opened).unwrap(), "old\n", "{user:?}: {text}");
            assert!(!bed.home().join("project/n").exists(), "{user:?}: {text}");
            fs::write(&opened, "old\n").unwrap();
        }
    }
}

#[test]
fn commands_with_alternating_plans_each_get_their_own() {
    for user in users() {
        let bed = SandboxBed::of(user);
        let files = ["a", "b"].map(|it| bed.write(it, "said\n"));
        let plans = files.map(|path| hidden(path, PlaceKind::File));
        for which in [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0] {
            let text = bed.run(&plans[which], "cat a b").with_code(1);
            let denied = ["a", "b"][which];
            assert!(text.contains(&format!("cat: {denied}: Permission denied\n")), "{text}");
            assert_eq!(text.lines().count(), 2, "{user:?}: {text}");
            assert!(text.contains("said\n"), "{user:?}: {text}");
        }
    }
}
