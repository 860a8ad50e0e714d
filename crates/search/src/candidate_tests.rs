//! Searches of what an index leaves of files, against searches of the whole files: the rows are the same.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs::{self, File},
    path::PathBuf,
};

use pretty_assertions::assert_eq;
use tempfile::TempDir;
use toolwright_files::{RelativePaths, Roots, ShortReads};
use toolwright_walk::HiddenFiles;

use super::{
    file_scanner::{BinaryFiles, FileToSearch},
    file_visitor::{FileVisitor, GroupMatches},
    *,
};
use crate::index::{EntryNumber, Kept, LearnedFile, Need, SearchedPart, Signatures};

/// Files that the index knows.
struct KnownFiles {
    dir: TempDir,
    paths: Vec<PathBuf>,
    signatures: Signatures,
}

/// What a search of one file finds, as text.
type FoundText = String;

impl KnownFiles {
    fn new(contents: &[Vec<u8>]) -> Self {
        let dir = TempDir::new().unwrap();
        let mut paths = Vec::new();
        let mut signatures = Signatures::new(64 * 1024 * 1024);
        for (number, content) in (0_u32..).zip(contents) {
            let path = dir.path().join(format!("file{number}"));
            fs::write(&path, content).unwrap();
            let learned = LearnedFile::of(&mut File::open(&path).unwrap());
            assert_eq!(signatures.put(EntryNumber::of_test(number), learned), Kept::Yes);
            paths.push(path);
        }
        Self { dir, paths, signatures }
    }

    fn request<R>(
        &self,
        query: &Query,
        shape: Shape,
        run: impl FnOnce(&SearchRequest<'_>) -> R,
    ) -> R {
        let roots = Roots::new(self.dir.path(), &[]).unwrap();
        let start = roots.resolve(".", RelativePaths::FromFirstRoot).unwrap();
        run(&SearchRequest {
            scope: Scope {
                start: &start,
                selection: &Selection::new(HiddenFiles::Seen),
                global_excludes: None,
                visibility: &Visibility::everything(),
                threads: &SearchThreads::new(0),
                index: None,
            },
            query,
            shape,
            offset: 0,
            limit: Some(400),
            max_bytes: 1024 * 1024,
        })
    }

    /// What a search finds in each file: in the part that the candidates leave, and in the whole file.
    fn search(&self, query: &Query, shape: Shape) -> Searches {
        let need = Need::of(query).unwrap();
        let candidates = self.signatures.candidates(&need);
        let numbers = (0_u32..).map(EntryNumber::of_test);
        let among = self.signatures.candidates_among(numbers.take(self.paths.len()), &need);
        let mut searches = Searches::default();
        self.request(query, shape, |request| {
            for (number, path) in (0_u32..).map(EntryNumber::of_test).zip(&self.paths) {
                let part = candidates.part_of(number);
                assert_eq!(part, among.part_of(number));
                let search = |texts| {
                    let mut group = GroupMatches::default();
                    let file = File::open(path).unwrap();
                    let target = FileToSearch { file, short_reads: ShortReads::MeanNothing, texts };
                    let mut visitor = FileVisitor::new(request, false, None);
                    let path = || path.clone();
                    visitor.search(target, &path, BinaryFiles::Skipped, &mut group, &|| false);
                    format!("{group:?}")
                };
                searches.cold.push(search(None));
                searches.warm.push(match part {
                    SearchedPart::Nothing => format!("{:?}", GroupMatches::default()),
                    SearchedPart::Binary => {
                        let binary = vec![path.clone()];
                        format!("{:?}", GroupMatches { binary, ..GroupMatches::default() })
                    }
                    SearchedPart::Whole => search(None),
                    SearchedPart::Texts(texts) => {
                        searches.texts += 1;
                        search(Some(texts))
                    }
                });
                searches.passed_over += usize::from(part == SearchedPart::Nothing);
            }
        });
        searches
    }
}

#[derive(Default)]
struct Searches {
    warm: Vec<FoundText>,
    cold: Vec<FoundText>,
    /// How many files were searched in part.
    texts: usize,
    /// How many were not searched.
    passed_over: usize,
}

/// Lines of some lengths, of which the ones with these numbers have a word.
fn lines(count: usize, marked: &[usize], word: &str) -> Vec<u8> {
    let line = |number: usize| {
        let mark = if marked.contains(&number) { word } else { "nothing" };
        format!("line {number} has {mark} {}\n", "x".repeat(number * 7 % 90))
    };
    (1..=count).flat_map(|it| line(it).into_bytes()).collect()
}

/// The numbers of the first and the last line of each text of such a file.
fn edges(count: usize) -> Vec<usize> {
    let mut edges = vec![1];
    let (mut bytes, mut is_long) = (0, false);
    for (number, line) in (1..).zip(lines(count, &[], "").split_inclusive(|it| *it == b'\n')) {
        if is_long {
            edges.extend([number - 1, number]);
            bytes = 0;
        }
        bytes += line.len();
        is_long = bytes > 64 * 1024;
    }
    edges.push(count);
    edges
}

fn files() -> Vec<Vec<u8>> {
    let count = 6_000;
    let edges = edges(count);
    let pick = |from: usize, step: usize| edges.iter().copied().skip(from).step_by(step).collect();
    let last: Vec<usize> = pick(1, 2);
    let first: Vec<usize> = pick(2, 2);
    let far: Vec<usize> = pick(1, 5);
    let word = "Needle";
    let large = lines(count, &[], word);
    let mut files = vec![
        lines(count, &edges, word),
        lines(count, &last, word),
        lines(count, &first, word),
        lines(count, &far, word),
        lines(count, &[1], word),
        lines(count, &[count], word),
        lines(count, &[3_000, 3_001, 3_004, 3_009], word),
        large.clone(),
        lines(20, &[7], word),
        lines(20, &[], word),
        b"\xff\xfeN\0e\0e\0d\0l\0e\0".to_vec(),
        b"small\0Needle".to_vec(),
        Vec::new(),
        [vec![b'y'; 300_000], b"Needle\n".to_vec(), lines(100, &[50], word)].concat(),
        // Without an end of the last line.
        lines(count, &[count - 1, count], word).strip_suffix(b"\n").unwrap().to_vec(),
        lines(count, &[2_000], word)
            .iter()
            .flat_map(|it| if *it == b'\n' { b"\r\n".to_vec() } else { vec![*it] })
            .collect(),
    ];
    for marked in [&[][..], &[1, 2_000]] {
        let text = lines(count, marked, word);
        files.push([b"\xef\xbb\xbf", text.as_slice()].concat());
        files.push([text.as_slice(), b"\0", large.as_slice()].concat());
        files.push([b"\0".as_slice(), text.as_slice()].concat());
        files.push([b"\xef\xbb\xbf".as_slice(), text.get(..2_000).unwrap(), b"\0Needle"].concat());
        // What would be a byte order mark at the start of a file.
        let marked = |it: &[u8]| [b"\xff\xfe".as_slice(), it].concat();
        let all: Vec<u8> = text.split_inclusive(|it| *it == b'\n').flat_map(marked).collect();
        files.push([b"begin\n".as_slice(), &all].concat());
    }
    files
}

#[test]
fn parts_of_files_have_the_rows_of_the_whole_files() {
    let known = KnownFiles::new(&files());
    let context = |before, after| Shape::Lines { before, after, only_matching: false };
    let only = Shape::Lines { before: 0, after: 0, only_matching: true };
    let mut shapes = vec![Shape::Files, Shape::Counts, only];
    shapes
        .extend([(0, 0), (1, 0), (0, 1), (2, 3), (700, 0), (0, 2_000)].map(|(a, b)| context(a, b)));
    let (mut texts, mut passed_over) = (0, 0);
    for (pattern, span) in [
        ("Needle", MatchSpan::Line),
        ("(?i)needle", MatchSpan::Line),
        (r"has\b.*\bNeedle x{0,80}$", MatchSpan::Line),
        (r"^line \d+ has Needle", MatchSpan::Line),
        (r"Needle|haystack", MatchSpan::Line),
        (r"\Aline 1 has Needle", MatchSpan::Line),
        (r"(?R)Needle x*$", MatchSpan::Line),
        (r"Needle x*\z", MatchSpan::Line),
        ("Needle", MatchSpan::Lines),
        (r"Needle x*\nline", MatchSpan::Lines),
        (r"nothing at all", MatchSpan::Line),
        (r"nothing x+\nline 3000 ", MatchSpan::Lines),
    ] {
        let query = Query::new(pattern, CaseSensitivity::Sensitive, span).unwrap();
        for shape in &shapes {
            let Searches { warm, cold, texts: in_part, passed_over: not } =
                known.search(&query, *shape);
            for (number, (warm, cold)) in warm.into_iter().zip(cold).enumerate() {
                assert_eq!(warm, cold, "{pattern} {shape:?} file{number}");
            }
            texts += in_part;
            passed_over += not;
        }
    }
    // It is about these that the test is.
    assert!(texts > 300 && passed_over > 100, "{texts} {passed_over}");
}

#[test]
fn a_file_that_is_another_now_is_searched_as_a_whole() {
    let known = KnownFiles::new(&[lines(6_000, &[3], "Needle")]);
    let path = known.paths.first().unwrap();
    let mut changed = lines(6_000, &[3, 5_000], "Needle");
    changed.extend_from_slice(b"one more Needle\n");
    fs::write(path, changed).unwrap();
    let query = Query::new("Needle", CaseSensitivity::Sensitive, MatchSpan::Line).unwrap();
    let searches = known.search(&query, Shape::Counts);
    assert_eq!(searches.texts, 1);
    assert_eq!(searches.warm, searches.cold);
    assert!(searches.warm.first().unwrap().contains("Count(3)"), "{:?}", searches.warm);
}
