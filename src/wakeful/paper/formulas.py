"""Finds formulas in text and writes them as MathML: `2 sqrt(T log K)` becomes a root sign.

Claims and captions are plain text, for terminals and JSON too. Here a small parser walks through such a text. What it
can read as a formula, and what cannot be English, becomes a `<math>` element; all other text is left alone.

    relation = sum {(= | <= | >= | != | ->) sum}   sum = product {(+ | -) product}   product = factor {[x | /] factor}
    factor = (name | number | (...) | |...| | sqrt(...)) [_sub] [^sup]
"""

import re
from collections.abc import Iterator
from html import escape

NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e-?\d+)?")
WORD = re.compile(r"[A-Za-z]+")
POWER = re.compile(r"-?\d+(?:\.\d+)?(?:/\d+)?|[a-z](?!\w)")
START = re.compile(r"(?<![\w.^_/'-])(?=-?[A-Za-z\d(|])")
LETTERS = frozenset("ACDEKLOPRSTUcdijklopqstuv")  # single letters that stand for something
GREEK = {name: f"&{name};" for name in ("eta", "gamma", "lambda", "mu", "pi", "sigma")}
RELATIONS = {" = ": "=", " <= ": "&le;", " >= ": "&ge;", " != ": "&ne;", " -> ": "&rarr;"}
OPENING, CLOSING = '<mo stretchy="false">(</mo>', '<mo stretchy="false">)</mo>'
THIN_SPACE = '<mspace width="0.17em"/>'


def pieces(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the parts of a text in order: each with its MathML if it is a formula, else with None.

    >>> [part for part, formula in pieces("It is at most 2 sqrt(T log K), for K = 3 arms.") if formula]
    ['2 sqrt(T log K)', 'K = 3']
    """
    done = at = 0
    while (start := START.search(text, at)) is not None:
        parser = _Parser(text, start.start())
        try:
            found = parser.relation()
        except _NoFormulaError:
            found = None
        if found is None or not parser.certain or not _ends(text, parser.at):
            at = start.start() + 1
            continue
        yield text[done : start.start()], None
        yield text[start.start() : parser.at], _math(found, text[start.start() : parser.at])
        done = at = parser.at
    yield text[done:], None


def _math(inner: str, typed: str) -> str:
    """Return the element; how the formula is typed goes with it, for those who do not see it."""
    return f'<math alttext="{escape(typed)}"><mrow>{inner}</mrow></math>'


def _ends(text: str, at: int) -> bool:
    """Whether a formula may end here: not inside a word."""
    return re.match(r"[\w^_]|-\w", text[at:]) is None


class _NoFormulaError(Exception):
    """What stands here is no formula."""


class _Parser:
    """Reads a formula from a place in a text on; `at` is where it ends, `certain` whether it cannot be English."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.certain = text, at, False
        self.roots = 0  # under how many root signs: fractions there would need a sign that grows, which few fonts have

    def relation(self) -> str:
        """Return sums and what stands between them."""
        found = [self._sum()]
        while (sign := self._any(RELATIONS)) is not None:
            before = self.at
            self.at += len(sign)
            try:
                found += [f"<mo>{RELATIONS[sign]}</mo>", self._sum()]
            except _NoFormulaError:
                self.at = before
                break
            self.certain |= "<mi>" in "".join(found)
        return "".join(found)

    def _sum(self) -> str:
        """Return products and the signs between them."""
        found = ["<mo>&minus;</mo>"] if self._take("-") else []
        found.append(self._product())
        while (sign := self._any((" + ", " - ", "-"))) is not None:
            before = self.at
            self.at += len(sign)
            try:
                found += [f"<mo>{'+' if '+' in sign else '&minus;'}</mo>", self._product()]
            except _NoFormulaError:
                self.at = before
                break
        return "".join(found)

    def _product(self) -> str:
        """Return factors one after another; what stands before a spaced slash becomes the numerator of a fraction."""
        found = self._factor()
        while True:
            before = self.at
            try:
                if self.roots == 0 and self._take(" / "):
                    found = f"<mfrac><mrow>{found}</mrow><mrow>{self._bare(self._factor())}</mrow></mfrac>"
                    self.certain |= "<mi>" in found
                elif self._take(" / ") or self._take("/"):
                    found += f"<mo>/</mo>{self._factor()}"
                    self.certain |= "<mi>" in found
                elif self._take(" x "):
                    found += f"<mo>&times;</mo>{self._named()}"
                    self.certain = True
                elif self._any((" sqrt(", " sum", " log", " exp(", " |")) or re.match(r" [A-Za-z]", self._rest()):
                    self.at += 1
                    found += THIN_SPACE + self._factor()
                elif self._any(("|",)) and found.endswith("</mo>"):  # sum|S_t|
                    found += self._factor()
                else:
                    return found
            except _NoFormulaError:
                self.at = before
                return found

    def _factor(self) -> str:
        """Return a number, a group, a root, a function or a name, with what stands below and above it."""
        if (number := NUMBER.match(self.text, self.at)) is not None:
            self.at = number.end()
            return self._raised(f"<mn>{number[0]}</mn>")
        if self._take("sqrt("):
            self.certain = True
            self.roots += 1
            try:
                return f"<msqrt>{self._until(')')}</msqrt>"
            finally:
                self.roots -= 1
        if self._take("("):
            return self._raised(f"<mrow>{OPENING}{self._until(')')}{CLOSING}</mrow>")
        if self._take("|"):
            self.certain = True
            return f'<mrow><mo stretchy="false">|</mo>{self._until("|")}<mo stretchy="false">|</mo></mrow>'
        return self._named()

    def _named(self) -> str:
        """Return a name with what stands below and above it, and its arguments."""
        word = WORD.match(self.text, self.at)
        if word is None:
            raise _NoFormulaError
        name, self.at = word[0], word.end()
        if name in {"log", "exp", "sum"}:
            return self._operator(name)
        low = self._lowered()
        if name in GREEK or name == "lhat":
            letter = GREEK.get(name, '<mover accent="true"><mi>l</mi><mo>^</mo></mover>')
            self.certain = True
        elif name in LETTERS or (low and len(name) == 1):
            letter = name
            self.certain |= name in {"K", "T"}
        else:
            raise _NoFormulaError
        symbol = letter if letter.startswith("<") else f"<mi>{letter}</mi>"
        return self._called(self._raised(f"<msub>{symbol}{low}</msub>" if low else symbol))

    def _operator(self, name: str) -> str:
        """Return a logarithm, an exponential or a sum, and what it is of."""
        sign = "<mo>&sum;</mo>" if name == "sum" else f"<mi>{name}</mi>"
        low = self._lowered() if name == "sum" else ""
        sign = self._raised(f"<munder>{sign}{low}</munder>" if low else sign)
        if self._take("("):
            self.certain = True
            return f"{sign}<mrow>{OPENING}{self._until(')')}{CLOSING}</mrow>"
        if name == "exp" or not (self._take(" ") or self._any(("|",))):
            raise _NoFormulaError
        if name == "sum" and NUMBER.match(self.text, self.at):
            raise _NoFormulaError  # English: "the sum 4.36"
        of = self._factor()
        self.certain = True
        return f"{sign}{THIN_SPACE}{of}"

    def _called(self, name: str) -> str:
        """Return a name and, if they follow at once, its arguments."""
        if not self._any(("(",)):
            return name
        before = self.at, self.certain
        self.at += 1
        try:
            arguments = [self._until(",", ")")]
            while self.text[self.at - 1] == ",":
                self._take(" ")
                arguments.append(self._until(",", ")"))
        except _NoFormulaError:
            self.at, self.certain = before
            return name
        self.certain = True
        return f"{name}<mrow>{OPENING}{'<mo>,</mo>'.join(arguments)}{CLOSING}</mrow>"

    def _lowered(self) -> str:
        """Return what stands below a name, or nothing."""
        if not self._take("_"):
            return ""
        self.certain = True
        if self._take("{"):
            return self._words()
        word = re.compile(r"[A-Za-z]+|\d+").match(self.text, self.at)
        if word is None:
            raise _NoFormulaError
        self.at = word.end()
        return f"<mn>{word[0]}</mn>" if word[0].isdigit() else f"<mi>{word[0]}</mi>"

    def _raised(self, base: str) -> str:
        """Return something with what stands above it."""
        if not self._take("^"):
            return base
        self.certain = True
        for opening, closing in ("{}", "()"):
            if self._take(opening):
                return f"<msup>{base}<mrow>{self._until(closing)}</mrow></msup>"
        power = POWER.match(self.text, self.at)
        if power is None:
            raise _NoFormulaError
        self.at = power.end()
        sign = "<mo>&minus;</mo>" if power[0].startswith("-") else ""
        kind = "mi" if power[0].isalpha() else "mn"
        parts = "<mo>/</mo>".join(f"<{kind}>{part}</{kind}>" for part in power[0].lstrip("-").split("/"))
        return f"<msup>{base}<mrow>{sign}{parts}</mrow></msup>"

    def _words(self) -> str:
        """Return what stands in braces below a sign: a relation, or words."""
        before = self.at
        try:
            return f"<mrow>{self._until('}')}</mrow>"
        except _NoFormulaError:
            self.at = self.text.find("}", before) + 1
        if self.at == 0:
            raise _NoFormulaError
        return f"<mtext>{escape(self.text[before : self.at - 1])}</mtext>"

    def _until(self, *closing: str) -> str:
        """Return a relation that ends with one of these signs."""
        found = self.relation()
        if not any(map(self._take, closing)):
            raise _NoFormulaError
        return found

    def _bare(self, factor: str) -> str:
        """Return a denominator without the brackets around it."""
        inner = re.fullmatch(f"<mrow>{re.escape(OPENING)}(.*){re.escape(CLOSING)}</mrow>", factor)
        return inner[1] if inner and inner[1].count(OPENING) == inner[1].count(CLOSING) else factor

    def _rest(self) -> str:
        return self.text[self.at :]

    def _any(self, signs: "tuple[str, ...] | dict[str, str]") -> str | None:
        """Return the first of these signs that stands here."""
        return next((sign for sign in signs if self.text.startswith(sign, self.at)), None)

    def _take(self, sign: str) -> bool:
        """Whether this sign stands here; if so it is passed."""
        there = self.text.startswith(sign, self.at)
        self.at += len(sign) * there
        return there
