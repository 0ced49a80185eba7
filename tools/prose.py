#!/usr/bin/python3
"""Finds faults in comments and documents. ./dev lint and ./dev test run it.

- A doc comment that means nothing without its neighbour: "The same.", "Of what.", "As above.", "Likewise …", "Which.", "Where it is.".
- CamelCase words outside backticks, but for names of programs and standards: renames go through prose, too.
- Paths of this repository, in backticks, that do not exist; they may begin at any folder (`ops/mod.rs`).
- Items, in backticks, that a type of ours does not have (`Type::item`). In documents, also other names of the code with `::`
  that do not exist.
- "picture" or "photograph": say image, or photo of what a camera has taken.

Documents and comments of every language are read; fragments are looked for in doc comments of Rust only.
"""
import os, re, subprocess, sys

FRAGMENT = re.compile(r"The same\b(?! (as|file|kind)\b)|Of (what|all|each|both|which)\b[^:,]*$|As (above|below)\b|Likewise\b|The other one\b"
                      r"|(Nothing|Which|This|That|These|Those|Whose|Both|All|None|Everything|What it is)\.$")
# A relative clause without a noun, such as "Where it is.", "What came of it.", "How many."
RELATIVE = r"(What|Where|How( (much|many|long|often|far|large|old|soon|late|busy))?|Who|Whose|Whom|When|Which|Why|Whether|Since when)"
OF_PRONOUN = re.compile(RELATIVE + r"( else)? (it|they|that|these|those|its)\b[^,:;]*$")
FUNCTION = set("""a all allowed already am an and another any anything are as ask asked asks at be became becomes been began begin begins best
both by came can come comes did do does done each else end ended ends everybody far for found from further gave give given gives go goes
gone had happened happens has have held here hold holds how in into is it its itself keep keeps kept know known last late least left less
lie lies long looked looks made make makes many may mean means meant meanwhile met more most much must need needed needs next no nobody
none nor not nothing now of off often old on once or other others out over own said same saw say says see seen show shown shows so some
somebody something soon stand stands stay stays still take taken takes tell tells than that the them themselves then there these they
this those to together told too twice up us use used uses want wanted wants was we went were what whatever when where whether which who
whoever whole whom whose why will with without would wrong yet""".split())
CAMEL = re.compile(r"\b[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]+\b")
NAMES = set("""AddressSanitizer BigTIFF BlurHash ChaCha20 CloudFront ColorSolutions ColourPrimaries CycloneDX DejaVu DevTools FreeType GitHub GitLab
GraphicsMagick GreedyDual HarfBuzz HdrHistogram ImageMagick JavaScript MatrixCoefficients McCullagh MinIO NetworkManager NumPy OpenMP
OpenMetrics OpenSSL OpenSeadragon OpenStack OpenTelemetry PackBits PerlMagick PostScript PyCapsule PyPI SeetaFace SplitMix64 ThumbHash
TimThumb TransferCharacteristics TurboJPEG TypeScript VipsImage WebP WordPress""".split())
PATH = re.compile(r"`((?:\.ci|contrib|crates|demo|docs|examples|lab|packaging|python|runs|samples|tools)/[A-Za-z0-9_./-]+)`")
SOURCE = re.compile(r"`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+\.(?:c|h|html|js|md|mjs|php|py|rs|sh|toml))`")
# Files that the exercises create, words in capitals that stand for any name, and files of other programs and of users.
INVENTED = re.compile(r"crates/codecs/src/pnm|crates/dialects/src/thumb/|/[A-Z]+\.toml$|lib/resize\.js|^folder/|^app/andon\.php")
OF_USERS = re.compile(r"docs/guides/")
ITEM = re.compile(r"`(?:\w+::)*(\w+)::(\w+)(?:\(\))?`")
PICTURE = re.compile(r"\b([Pp]ictures?|[Pp]hotograph(s|ed|ic)?)\b")
# How a comment begins, by the name of the file: in most scripts by #.
COMMENTS = {"rs": r"//([/!]?)", "js": "//()", "mjs": "//()", "jsx": "//()", "php": "//()", "c": r"(?:/\*|//)()", "h": r"(?:/\*|//)()"}
SCRIPTS = ("cgi", "cmake", "conf", "pl", "py", "rb", "run", "sh", "toml", "yaml", "yml")
ASIDE = re.compile(r"`[^`]*`|\"[^\"]*\"|<[^>]*>|\[[^\]]*\]\([^)]*\)|https?://\S+")


def comment_start(name):
    """Returns a pattern of how comments begin in a file; an empty one for a document, None for a file that is not read."""
    folder, _, base = name.rpartition("/")
    _, dot, ending = base.rpartition(".")
    if ending == "md":
        return ""
    if ending in COMMENTS:
        return COMMENTS[ending]
    is_script = ending in SCRIPTS if dot else base in ("Dockerfile", "dev", "record", "make") or folder.startswith("packaging")
    return "#(?!!)()" if is_script else None


def prose(name):
    """Yields numbered lines of prose: those of a document, or the comments of a source file, without fenced code."""
    fenced, start = False, comment_start(name)
    for number, line in enumerate(open(name, errors="replace"), 1):
        if start:
            comment = re.match(r"\s*" + start + " ?(.*)", line)
            if not comment:
                fenced = False
                yield number, "", ""
                continue
            kind, text = comment[1] or "-", comment[2]
        else:
            kind, text = "md", line.rstrip("\n")
        if text.lstrip().startswith("```"):
            fenced = not fenced
            text = ""
        yield number, kind, "" if fenced else text


def is_bare(text):
    """Returns whether a sentence is a relative clause without a noun."""
    words = re.findall(r"[A-Za-z']+|[`\[\d]", text)
    return bool(re.match(RELATIVE + r"\b", text) and (OF_PRONOUN.match(text) or all(word.lower() in FUNCTION for word in words)))


def findings(name, tree):
    before, alone = "", None
    for number, kind, text in prose(name):
        where = f"{name}:{number}"
        if alone and kind != "/":
            yield alone
        alone = None
        if kind == "/" and before != kind and is_bare(text):
            # A fault only if the comment ends here.
            alone = f"{where}: a relative clause that names nothing: {text}"
        if kind in ("/", "!") and before != kind and FRAGMENT.match(text):
            yield f"{where}: a fragment that leans on its neighbour: {text}"
        before = kind
        rooted = PATH.findall(text)
        for path in rooted:
            if path.rstrip("/.") not in tree.paths and not INVENTED.search(path):
                yield f"{where}: there is no {path}"
        for path in () if OF_USERS.match(name) else SOURCE.findall(text):
            if path not in rooted and path not in tree.ends and not INVENTED.search(path):
                yield f"{where}: no path ends in {path}"
        for owner, item in ITEM.findall(text):
            if owner in tree.types and (owner, item) not in tree.members:
                yield f"{where}: {owner} has no {item}"
            elif kind == "md" and item not in tree.items:
                yield f"{where}: nothing is called {item} in the code"
        plain = ASIDE.sub("", text)
        for word in CAMEL.findall(plain):
            if word not in NAMES:
                yield f"{where}: {word} outside backticks"
        if kind and PICTURE.search(plain):
            yield f"{where}: say image: {text.strip()}"


class Tree:
    """What prose may name: files and folders, the ends of their paths, and items of the code."""

    def __init__(self, listed):
        self.paths = set(listed)
        self.paths |= {path[:at] for path in listed for at, letter in enumerate(path) if letter == "/"}
        self.ends = {path[at:] for path in listed for at in range(len(path)) if at == 0 or path[at - 1] == "/"}
        self.items, self.types, self.members = set(), set(), set()
        for path in listed:
            if path.endswith(".rs"):
                text = open(path, errors="replace").read()
                items = set(re.findall(r"\b(?:fn|struct|enum|trait|type|mod|const|static) (\w+)", text))
                # Variants of enums.
                items |= set(re.findall(r"^\s*([A-Z]\w+)(?:\(|,|\s*\{|\s*=)", text, re.M))
                fields = set(re.findall(r"^\s*(?:pub(?:\([^)]*\))? )?(\w+):", text, re.M))
                types = set(re.findall(r"\b(?:struct|enum|trait|union) (\w+)", text))
                extended = set(re.findall(r"^\s*(?:unsafe )?impl\b.*?(\w+)(?:<[^{]*>)? \{", text, re.M))
                self.items |= items
                self.types |= types
                # Near enough: what is declared in a file belongs to every type that the file declares or extends.
                self.members |= {(owner, item) for owner in types | extended for item in items | fields}


def tracked():
    """Returns the repository's files, or those of an unpacked archive without history."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True)
    if listed.returncode == 0:
        return [path for path in listed.stdout.split("\n") if os.path.exists(path)]
    found = (os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names)
    return [path[2:] for path in found if not path.startswith(("./target", "./.git/"))]


def main():
    listed = tracked()
    tree = Tree(listed)
    wrong = [finding for name in listed if comment_start(name) is not None and not name.startswith("runs/") for finding in findings(name, tree)]
    print("\n".join(wrong) if wrong else "prose: nothing is wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
