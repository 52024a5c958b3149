"""Makes the font of the share pictures: Noto Sans CJK SC with the characters that names and reports of stocks have.

    apt-get install fonts-noto-cjk python3-fonttools
    python3 scripts/derive-font.py

Characters: GB 2312, KS X 1001, the first levels of Big5 and JIS X 0208, Latin, kana, and whatever the sources of the service have.
test/unit/reports/card.test.ts asks that no packaged name is missing one.
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FACES = "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"
SIMPLIFIED = "2"  # the place of the face in the collection
OUT = ROOT / "src/web/public/fonts/noto-sans-cjk-sc.otf.br"
ENCODINGS = [
    ("gb2312", range(0xA1, 0xF8), range(0xA1, 0xFF)),
    ("euc-kr", range(0xB0, 0xC9), range(0xA1, 0xFF)),
    ("big5", range(0xA4, 0xC7), range(0x40, 0xFF)),
    ("euc-jp", range(0xB0, 0xD0), range(0xA1, 0xFF)),
]
RANGES = [(0x20, 0x180), (0x2000, 0x2070), (0x3000, 0x3100), (0xFF00, 0xFFEF)]
MARKS = "\u20a9\u20ac\u2190\u2191\u2192\u2193\u2194\u2212\u2248\u2260\u2264\u2265\u25a0\u25a1\u25b2\u25b3\u25bc\u25bd\u25cf\u25cb\u25c6\u2605\u2606\u2713\u26a0"


def characters():
    found = set(MARKS)
    for first, last in RANGES:
        found |= {chr(point) for point in range(first, last)}
    for encoding, leads, trails in ENCODINGS:
        for lead in leads:
            for trail in trails:
                found |= set(bytes([lead, trail]).decode(encoding, "ignore"))
    for path in (ROOT / "src").rglob("*.ts*"):
        found |= set(path.read_text("utf-8"))
    return "".join(sorted(one for one in found if one.isprintable()))


def main():
    with tempfile.TemporaryDirectory() as folder:
        text, font = pathlib.Path(folder, "text"), pathlib.Path(folder, "font.otf")
        text.write_text(characters(), "utf-8")
        options = [f"--font-number={SIMPLIFIED}", f"--text-file={text}", f"--output-file={font}", "--no-hinting"]
        tables = "--drop-tables+=vhea,vmtx,VORG,BASE,GPOS,GSUB"
        subset = [sys.executable, "-m", "fontTools.subset", FACES, "--notdef-outline", tables]
        subprocess.run(subset + options, check=True)
        import brotli

        OUT.write_bytes(brotli.compress(font.read_bytes(), quality=11, lgwin=24))
        print(f"{OUT}: {font.stat().st_size} bytes, {OUT.stat().st_size} compressed")


main()
