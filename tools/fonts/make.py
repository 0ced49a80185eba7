#!/usr/bin/env python3
"""Creates the fonts and the known answers of crates/codecs/src/text/tests/shaping.rs.

Each script has a text, and a Noto font reduced to what that text needs. hb-shape of HarfBuzz shapes the text with the
reduced font; glyphs, offsets and advances are recorded in font units. HarfBuzz 15 applies the feature `calt` to Hangul, which
HarfBuzz 6 (of Debian 12) and harfrust 0.12 do not; everything else is the same in both.

    pip install fonttools
    apt-get install libharfbuzz-bin
    apt-get download fonts-noto-core fonts-noto-cjk && for file in fonts-noto-*.deb; do dpkg -x "$file" noto; done
    tools/fonts/make.py noto/usr/share/fonts crates/codecs/tests/fonts
"""

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

# Script, font file, text. A text consists of words of a language that uses the script. For scripts that are no longer in use it has
# letters in the order of Unicode.
SCRIPTS = [
    ("Latin", "NotoSans-Regular", "Office, Ståle: Việt Nam, fi ffl AVATAR a\u0301\u0323"),
    ("Greek", "NotoSans-Regular", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι"),
    ("Cyrillic", "NotoSans-Regular", "Все люди рождаются свободными й ї"),
    ("Arabic", "NotoNaskhArabic-Regular", "يولد جميع الناس أحرارًا متساوين لا إله"),
    ("Urdu", "NotoNastaliqUrdu-Regular", "تمام انسان آزاد"),
    ("Hebrew", "NotoSansHebrew-Regular", "כָּל בְּנֵי אָדָם נוֹלְדוּ"),
    ("Syriac", "NotoSansSyriac-Regular", "ܟܠ ܒܪ ܐܢܫܐ ܒܪܝܠܗ ܚܐܪܐ"),
    ("Thaana", "NotoSansThaana-Regular", "ހުރިހާ އިންސާނުން"),
    ("Nko", "NotoSansNKo-Regular", "ߡߐ߱ ߓߍ߯ ߦߋ߫"),
    ("Samaritan", "NotoSansSamaritan-Regular", "ࠀࠁࠂࠃࠄࠅ"),
    ("Mandaic", "NotoSansMandaic-Regular", "ࡀࡁࡂࡃࡄࡅ"),
    ("Devanagari", "NotoSansDevanagari-Regular", "सभी मनुष्यों को गौरव और अधिकारों क्षत्रिय र्कि"),
    ("Bengali", "NotoSansBengali-Regular", "সমস্ত মানুষ স্বাধীনভাবে ক্ষ র্কি"),
    ("Gurmukhi", "NotoSansGurmukhi-Regular", "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ ਸ੍ਰੀ"),
    ("Gujarati", "NotoSansGujarati-Regular", "પ્રતિષ્ઠા અને અધિકારોની દૃષ્ટિએ"),
    ("Oriya", "NotoSansOriya-Regular", "ସମସ୍ତ ମନୁଷ୍ୟ ସ୍ଵାଧୀନ"),
    ("Tamil", "NotoSansTamil-Regular", "மனிதப் பிறிவியினர் கொள் ஸ்ரீ"),
    ("Telugu", "NotoSansTelugu-Regular", "ప్రతిపత్తిస్వత్వముల స్త్రీ"),
    ("Kannada", "NotoSansKannada-Regular", "ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿ ರ್ಕಿ"),
    ("Malayalam", "NotoSansMalayalam-Regular", "മനുഷ്യരെല്ലാവരും സ്വതന്ത്ര ക്ഷേ"),
    ("Sinhala", "NotoSansSinhala-Regular", "සියලු මනුෂ්‍යයෝ ශ්‍රී"),
    ("Thai", "NotoSansThai-Regular", "มนุษย์ทั้งหลายเกิดมามีน้ำใจที่"),
    ("Lao", "NotoSansLao-Regular", "ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ"),
    ("Tibetan", "NotoSerifTibetan-Regular", "འགྲོ་བ་མིའི་རིགས་རྒྱུད་"),
    ("Myanmar", "NotoSansMyanmar-Regular", "လူတိုင်းသည် တူညီ လွတ်လပ်သော ကြွေ"),
    ("Georgian", "NotoSansGeorgian-Regular", "ყველა ადამიანი იბადება"),
    ("Armenian", "NotoSansArmenian-Regular", "Բոլոր մարդիկ ծնվում են ազատ և"),
    ("Hangul", "NotoSansCJK-Regular", "모든 인간은 \u1112\u1161\u11ab"),
    ("Han", "NotoSansCJK-Regular", "人人生而自由，在尊嚴和權利上一律平等。"),
    ("Hiragana", "NotoSansCJK-Regular", "すべての人間は、生まれながら"),
    ("Katakana", "NotoSansCJK-Regular", "アンドン「カ\u3099ラス」ー"),
    ("Bopomofo", "NotoSansCJK-Regular", "ㄅㄆㄇㄈㄉ"),
    ("Ethiopic", "NotoSansEthiopic-Regular", "የሰው ልጅ ሁሉ ሲወለድ ነፃ"),
    ("Cherokee", "NotoSansCherokee-Regular", "ᏂᎦᏓ ᎠᏂᏴᏫ"),
    ("Canadian_Aboriginal", "NotoSansCanadianAboriginal-Regular", "ᐃᓅᔪᓕᒫᑦ ᐊᓂᖅᑎᕆ"),
    ("Khmer", "NotoSansKhmer-Regular", "មនុស្សទាំងអស់ កើតមកមានសេរីភាព ស្ត្រី"),
    ("Mongolian", "NotoSansMongolian-Regular", "ᠬᠦᠮᠦᠨ ᠪᠦᠷ"),
    ("Tifinagh", "NotoSansTifinagh-Regular", "ⵉⵎⴷⴰⵏⵏ ⵎⴰⵕⵕⴰ"),
    ("Vai", "NotoSansVai-Regular", "ꕉꕜꕮ ꔔꘋ"),
    ("Yi", "NotoSansYi-Regular", "ꊿꂷꃅꄿꐨꐥ"),
    ("Lisu", "NotoSansLisu-Regular", "ꓜꓳ ꓬꓲ"),
    ("Balinese", "NotoSansBalinese-Regular", "ᬅᬓ᭄ᬱᬭ ᬩᬮᬶ"),
    ("Javanese", "NotoSansJavanese-Regular", "ꦱꦧꦼꦤ꧀ ꦮꦺꦴꦁ"),
    ("Sundanese", "NotoSansSundanese-Regular", "ᮃᮊ᮪ᮞᮛ ᮞᮥᮔ᮪ᮓ"),
    ("Buginese", "NotoSansBuginese-Regular", "ᨒᨚᨈᨑ ᨕᨘᨁᨗ"),
    ("Batak", "NotoSansBatak-Regular", "ᯘᯬᯒᯖ᯲ ᯅᯖᯂ᯲"),
    ("Tai_Tham", "NotoSansTaiTham-Regular", "ᨲᩫ᩠ᩅᨾᩮᩬᩥᨦ"),
    ("New_Tai_Lue", "NotoSansNewTaiLue-Regular", "ᦟᦲᧅᦷᦎ"),
    ("Cham", "NotoSansCham-Regular", "ꨌꩌꨛꨩ"),
    ("Meetei_Mayek", "NotoSansMeeteiMayek-Regular", "ꯃꯤꯇꯩ ꯃꯌꯦꯛ"),
    ("Ol_Chiki", "NotoSansOlChiki-Regular", "ᱥᱟᱱᱛᱟᱲᱤ"),
    ("Lepcha", "NotoSansLepcha-Regular", "ᰛᰧᰵ ᰶᰀᰪᰱ"),
    ("Limbu", "NotoSansLimbu-Regular", "ᤕᤠᤰᤌᤢᤱ"),
    ("Syloti_Nagri", "NotoSansSylotiNagri-Regular", "ꠍꠤꠟꠐꠤ"),
    ("Saurashtra", "NotoSansSaurashtra-Regular", "ꢱꣃꢬꢵꢰ꣄ꢜ꣄ꢬꢵ"),
    ("Kayah_Li", "NotoSansKayahLi-Regular", "ꤊꤢꤛꤢ꤭"),
    ("Chakma", "NotoSansChakma-Regular", "𑄌𑄋𑄴𑄟𑄳𑄦"),
    ("Adlam", "NotoSansAdlam-Regular", "𞤀𞤁𞤂𞤢𞤥 𞤆𞤵𞤤𞤢𞤪"),
    ("Gothic", "NotoSansGothic-Regular", None),
    ("Runic", "NotoSansRunic-Regular", None),
    ("Ogham", "NotoSansOgham-Regular", None),
    ("Glagolitic", "NotoSansGlagolitic-Regular", None),
    ("Coptic", "NotoSansCoptic-Regular", None),
    ("Phoenician", "NotoSansPhoenician-Regular", None),
    ("Brahmi", "NotoSansBrahmi-Regular", "𑀥𑀁𑀫𑀮𑀺𑀧𑀺 𑀓𑁆𑀱"),
    ("Cuneiform", "NotoSansCuneiform-Regular", None),
]

BLOCKS = {
    "Gothic": (0x10330, 16),
    "Runic": (0x16A0, 16),
    "Ogham": (0x1681, 16),
    "Glagolitic": (0x2C30, 16),
    "Coptic": (0x2C80, 16),
    "Phoenician": (0x10900, 16),
    "Cuneiform": (0x12000, 8),
}

# Colour emoji: a face, and a family of three that is one glyph.
EMOJI = ("NotoColorEmoji", "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467")

# A text in Japanese, for the vertical forms of its glyphs.
VERTICAL = ("Vertical", "NotoSansCJK-Regular", "「日本語」、ーっ。")


def found(folder, name):
    for end in ("ttf", "otf", "ttc"):
        for path in sorted(folder.rglob(f"{name}.{end}")):
            return path
    raise SystemExit(f"no {name} in {folder}")


def reduced(path, texts, target):
    """Writes a font with the glyphs that these texts need."""
    options = subset.Options()
    options.layout_features = ["*"]
    options.notdef_outline = True
    options.name_IDs = [0, 1, 2, 6, 13, 14]
    options.hinting = False
    options.font_number = 0
    font = subset.load_font(str(path), options)
    subsetter = subset.Subsetter(options)
    text = "".join(texts)
    # HarfBuzz decomposes and composes characters. These two it decomposes differently from Unicode.
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKD")]
    subsetter.populate(text="".join([text, *forms, " \u25cc\u0e4d\u0e32\u0ecd\u0eb2"]))
    subsetter.subset(font)
    subset.save_font(font, str(target), options)


def shaped(path, text, vertical):
    command = ["hb-shape", "--no-glyph-names", "--output-format=json"]
    if vertical:
        command.append("--direction=ttb")
    made = subprocess.run([*command, str(path), text], check=True, capture_output=True, text=True)
    glyphs = [[glyph[key] for key in ("g", "dx", "dy", "ax", "ay")] for glyph in json.loads(made.stdout)]
    return TTFont(path)["head"].unitsPerEm, glyphs


def main():
    source, target = (Path(argument) for argument in sys.argv[1:3])
    target.mkdir(parents=True, exist_ok=True)
    texts = {}
    rows = []
    for script, font, text in [*SCRIPTS, VERTICAL]:
        if text is None:
            first, count = BLOCKS[script]
            text = "".join(map(chr, range(first, first + count)))
        texts.setdefault(font, []).append(text)
        rows.append((script, font, text))
    for font, all_texts in texts.items():
        reduced(found(source, font), all_texts, target / f"{font}.ttf")
    emoji, text = EMOJI
    reduced(found(source, emoji), [text], target / f"{emoji}.ttf")
    answers = []
    for script, font, text in rows:
        path = target / f"{font}.ttf"
        upem, glyphs = shaped(path, text, script == "Vertical")
        missing = any(glyph[0] == 0 for glyph in glyphs)
        if missing:
            raise SystemExit(f"{font} lacks glyphs for {script}")
        answers.append({"script": script, "font": f"{font}.ttf", "text": text, "upem": upem, "glyphs": glyphs})
    lines = ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers)
    (target / "answers.json").write_text(f"[\n{lines}\n]\n")
    version = subprocess.run(["hb-shape", "--version"], check=True, capture_output=True, text=True).stdout
    print(f"{len(answers)} texts, {version.splitlines()[0]}")


main()
