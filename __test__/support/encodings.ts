/** An encoding with the test's own encoder, because the tool's encoder is under test. */
export interface Written {
  /** The name in `Read`; undefined for plain UTF-8, which it does not mention. */
  label: string | undefined;
  /** The byte order mark. */
  mark: Buffer;
  encode(text: string): Buffer;
  /** Lines by which a file's encoding is recognised; never edited. */
  preamble: string[];
  words: string[];
  /** Characters that it cannot represent. */
  lacks: string[];
}

const NONE = Buffer.alloc(0);
const ASCII_WORDS = [
  "a",
  "b",
  "if",
  "return",
  "x = 1;",
  "()",
  "{",
  "}",
  "\\",
  "'",
  '"',
  "$1",
  "$&",
];
const UNICODE_WORDS = [
  ...ASCII_WORDS,
  "é",
  "e\u0301",
  "größer",
  "日本語",
  "😀",
  "👩‍👩‍👧",
  "“so”",
  "–",
  "\u00a0",
  "\u2028",
  "\u0085",
  "\u000b",
  "\u000c",
  "עברית",
];

const utf16le = (text: string) => Buffer.from(text, "utf16le");
const utf16be = (text: string) => utf16le(text).swap16();

function unicode(
  label: string | undefined,
  mark: Buffer,
  encode: (text: string) => Buffer,
): Written {
  return { label, mark, encode, preamble: [], words: UNICODE_WORDS, lacks: [] };
}

/** An encoding by the codes of the characters that are used here, all of the same length. */
function legacy(
  label: string,
  {
    characters,
    codes,
    preamble,
    words,
    lacks,
  }: Record<"characters" | "codes", string> & Pick<Written, "preamble" | "words" | "lacks">,
): Written {
  const points = [...characters];
  const length = codes.length / points.length;
  const code = new Map(
    points.map((point, index) => [point, codes.slice(index * length, (index + 1) * length)]),
  );
  const encode = (text: string) => {
    const hex = [...text].map((point) => {
      const ascii = point < "\u0080" ? Buffer.from(point).toString("hex") : code.get(point);
      if (ascii === undefined) throw new Error(`no code for ${point} in ${label}`);
      return ascii;
    });
    return Buffer.from(hex.join(""), "hex");
  };
  return { label, mark: NONE, encode, preamble, words: [...ASCII_WORDS, ...words], lacks };
}

const JAPANESE = {
  characters:
    "、。いくこさすずだでにのはみるれをんァイエスソタテデトフベラルー値列前力変字定必接数文日明更本示章続能表設語説読込配関",
  preamble: ["これは設定ファイルです。", "値を変更する前に、必ず説明を読んでください。"],
  // The last byte of ソ, 表 and 能 is a backslash in ASCII.
  words: ["関数", "文字", "配列", "データベース", "エラー", "テスト", "ソース", "表示", "能力"],
  lacks: ["é", "😀", "¥"],
};

export const encodings: Record<string, Written> = {
  "UTF-8": unicode(undefined, NONE, (text) => Buffer.from(text)),
  "UTF-8 with BOM": unicode("UTF-8 with BOM", Buffer.from("efbbbf", "hex"), (text) =>
    Buffer.from(text),
  ),
  "UTF-16LE": unicode("UTF-16LE with BOM", Buffer.from("fffe", "hex"), utf16le),
  "UTF-16BE": unicode("UTF-16BE with BOM", Buffer.from("feff", "hex"), utf16be),
  "windows-1252": legacy("windows-1252", {
    characters: "éèàçùêîôûœüöäßÉ€“”–’",
    codes: "e9e8e0e7f9eaeef4fb9cfcf6e4dfc98093949692",
    preamble: [
      "Voilà un café crème, s’il vous plaît : une façon très française de déjeuner à l’hôtel.",
      "Le goût du thé où l’élève a mangé, c’était déjà l’été à la forêt.",
    ],
    words: ["café", "crème", "déjà", "élève", "façon", "où", "œuvre", "“oui”", "5 €", "l’été", "–"],
    lacks: ["日", "ł", "😀"],
  }),
  "windows-1251": legacy("windows-1251", {
    characters: "абвгдежзийклмнопрстуфхцчшщъыьэюяЭП",
    codes: Buffer.from([...Array.from({ length: 32 }, (_, at) => 0xe0 + at), 0xdd, 0xcf]).toString(
      "hex",
    ),
    preamble: [
      "Это файл настроек на русском языке.",
      "Перед тем как менять значения, прочитайте описание.",
    ],
    words: ["функция", "строка", "массив", "данные", "ошибка", "проверка", "чтение"],
    lacks: ["é", "日", "😀"],
  }),
  Shift_JIS: legacy("Shift_JIS", {
    ...JAPANESE,
    codes:
      "8141814282a282ad82b182b382b782b882be82c582c982cc82cd82dd82e982ea82f082f18340834383478358835c835e836583668367837483788389838b815b926c97f1914f97cd95cf8e9a92e8954b90da909495b693fa96be8d58967b8ea68fcd91b1945c955c90dd8cea90e093c78d9e947a8ad6",
  }),
  "EUC-JP": legacy("EUC-JP", {
    ...JAPANESE,
    codes:
      "a1a2a1a3a4a4a4afa4b3a4b5a4b9a4baa4c0a4c7a4cba4cea4cfa4dfa4eba4eca4f2a4f3a5a1a5a4a5a8a5b9a5bda5bfa5c6a5c7a5c8a5d5a5d9a5e9a5eba1bcc3cdcef3c1b0cecfcad1bbfac4eac9acc0dcbff4cab8c6fcccc0b9b9cbdcbca8becfc2b3c7bdc9bdc0dfb8ecc0e2c6c9b9fec7dbb4d8",
  }),
  GBK: legacy("GBK", {
    characters:
      "。一个中之件修先写函前取字库据接改数文明是显测用的示章符组置试误说请读这连配错阅，",
    codes:
      "a1a3d2bbb8f6d6d0d6aebcfed0decfc8d0b4baafc7b0c8a1d7d6bfe2beddbdd3b8c4cafdcec4c3f7cac7cfd4b2e2d3c3b5c4cabed5c2b7fbd7e9d6c3cad4cef3cbb5c7ebb6c1d5e2c1acc5e4b4edd4c4a3ac",
    preamble: [
      "这是一个用中文写的配置文件，修改之前请先阅读说明。",
      "中文的文章，读取数据库的数据。",
    ],
    words: ["函数", "字符", "数组", "数据库", "连接", "错误", "测试", "读取", "显示"],
    lacks: ["ł", "😀"],
  }),
  "EUC-KR": legacy("EUC-KR", {
    characters:
      "값것결국기꾸니다데로류명문바배설수시십쓰어에여연열오으은을이일읽입자전정진터파한함험",
    codes:
      "b0aab0cdb0e1b1b9b1e2b2d9b4cfb4d9b5a5b7ceb7f9b8edb9aeb9d9b9e8bcb3bcf6bdc3bdcabeb2beeebfa1bfa9bfacbfadbfc0c0b8c0bac0bbc0ccc0cfc0d0c0d4c0dac0fcc1a4c1f8c5cdc6c4c7d1c7d4c7e8",
    preamble: ["이것은 한국어로 쓰여진 설정 파일입니다.", "값을 바꾸기 전에 설명을 읽으십시오."],
    words: ["함수", "문자", "배열", "데이터", "연결", "오류", "시험", "읽기"],
    lacks: ["é", "😀"],
  }),
};
