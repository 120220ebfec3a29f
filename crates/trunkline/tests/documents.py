"""Writes good and hostile documents into the directory given as argument."""
import os
import sys
import warnings
import zipfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(sys.argv[1])
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    f'xmlns:r="{OFFICE}"'
)


def package(name, main, kind, parts, more_types=""):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{TYPES}"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/{main}" ContentType="application/vnd.openxmlformats-officedocument.{kind}.main+xml"/>'
            f"{more_types}</Types>",
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" '
            f'Target="{main}"/></Relationships>',
        )
        for path, text in parts:
            archive.writestr(path, text)


def docx(name, body, prologue=""):
    text = f'<?xml version="1.0"?>{prologue}<w:document {WORD}><w:body>{body}</w:body></w:document>'
    package(name, "word/document.xml", "wordprocessingml.document", [("word/document.xml", text)])


def paragraph(text):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def xlsx(name, merges="", rows='<row r="1"><c r="A1" t="inlineStr"><is><t>cell</t></is></c></row>'):
    workbook = (
        f'<workbook {SHEET} xmlns:r="{OFFICE}"><sheets><sheet name="One" sheetId="1" r:id="s1"/></sheets></workbook>'
    )
    relations = (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="s1" Type="{OFFICE}/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>'
    )
    sheet = f"<worksheet {SHEET}><sheetData>{rows}</sheetData>{merges}</worksheet>"
    parts = [
        ("xl/workbook.xml", workbook),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/worksheets/sheet1.xml", sheet),
    ]
    more = (
        '<Override PartName="/xl/worksheets/sheet1.xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
    )
    package(name, "xl/workbook.xml", "spreadsheetml.sheet", parts, more)


def pptx(name, text):
    relations = (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="s1" Type="{OFFICE}/slide" '
        'Target="slides/slide1.xml"/></Relationships>'
    )
    show = f'<p:presentation {SLIDE}><p:sldIdLst><p:sldId id="256" r:id="s1"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>'
    slide = (
        f'<p:sld {SLIDE}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/>'
        '</p:nvGrpSpPr><p:grpSpPr/><p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/><p:cNvSpPr/><p:nvPr>'
        '<p:ph type="title"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r>'
        f"<a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
    )
    parts = [
        ("ppt/presentation.xml", show),
        ("ppt/_rels/presentation.xml.rels", relations),
        ("ppt/slides/slide1.xml", slide),
    ]
    more = (
        '<Override PartName="/ppt/slides/slide1.xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.presentationml.slide+xml"/>'
    )
    package(name, "ppt/presentation.xml", "presentationml.presentation", parts, more)


def pdf(name, content, extra=()):
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>%s>>>>" % (b"/XObject<</X 6 0 R>>" if extra else b""),
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding"
        b"/FirstChar 32/LastChar 126/Widths[%s]>>" % (b"500 " * 95),
        *extra,
    ]
    write_pdf(name, objects)


def write_pdf(name, objects):
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    with open(name, "wb") as file:
        file.write(out)


def text_file(name, text):
    with open(name, "w") as file:
        file.write(text)


def scan(name, picture):
    """A PDF with two pages that have only a picture."""
    chunks, at = {}, 8
    while at < len(picture):
        length, kind = int.from_bytes(picture[at : at + 4], "big"), picture[at + 4 : at + 8]
        chunks[kind] = chunks.get(kind, b"") + picture[at + 8 : at + 8 + length]
        at += length + 12
    width, height = (int.from_bytes(chunks[b"IHDR"][place : place + 4], "big") for place in (0, 4))
    image = (
        b"<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 1/Filter"
        b"/FlateDecode/DecodeParms<</Predictor 15/Colors 1/BitsPerComponent 1/Columns %d>>/Length %d>>stream\n"
        % (width, height, width, len(chunks[b"IDAT"]))
    )
    drawing = b"q 595 0 0 %d 0 500 cm /I Do Q" % (595 * height // width)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</XObject<</I 6 0 R>>>>/Contents 5 0 R>>"
    write_pdf(
        name,
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
            page,
            page,
            b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing),
            image + chunks[b"IDAT"] + b"\nendstream",
        ],
    )


with open(os.path.join(HERE, "scan.png"), "rb") as file:
    PICTURE = file.read()
os.mkdir("scan")
scan("scan/scan.pdf", PICTURE)
with open("scan/scan.png", "wb") as file:
    file.write(PICTURE)

os.mkdir("good")
docx("good/report.docx", paragraph("Quarterly report") + paragraph("Revenue rose."))
xlsx("good/book.xlsx")
pptx("good/talk.pptx", "Opening")
lines = [b"Dear reader,"] + [b"this letter has lines of plain text, and this is one of them."] * 8
pdf("good/letter.pdf", b"BT /F 12 Tf 14 TL 72 700 Td " + b"".join(b"(%s) Tj T* " % line for line in lines) + b"ET")
text_file("good/page.html", "<h1>Title</h1><p>First</p><h2>Part</h2><p>Second</p>")

os.mkdir("z01")
with zipfile.ZipFile("z01/inflates.docx", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("[Content_Types].xml", "<Types/>")
    with archive.open("word/document.xml", "w", force_zip64=True) as part:
        for _ in range(1500):
            part.write(b" " * 1_000_000)
with zipfile.ZipFile("z01/entries.docx", "w") as archive:
    archive.writestr("[Content_Types].xml", "<Types/>")
    for number in range(100_000):
        archive.writestr(f"word/{number}.xml", "")
docx("z01/paragraphs.docx", paragraph("x") * 3_000_000)

os.mkdir("z02")
for number, name in enumerate(["../../evil.xml", "word/../../../evil.xml", "/etc/passwd"]):
    with zipfile.ZipFile(f"z02/climbs{number}.docx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(name, "<x/>")
with zipfile.ZipFile("z02/twice.docx", "w") as archive, warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for text in ["one", "two"]:
        archive.writestr("[Content_Types].xml", f"<Types>{text}</Types>")
for kind, mode in [("link", 0o120777), ("device", 0o020644), ("setuid", 0o104755)]:
    with zipfile.ZipFile(f"z02/{kind}.docx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        entry = zipfile.ZipInfo("word/document.xml")
        entry.create_system, entry.external_attr = 3, mode << 16
        archive.writestr(entry, "/etc/passwd")

os.mkdir("z04")
entity = '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
docx("z04/external.docx", paragraph("&a;"), entity)
laughs = '<!DOCTYPE d [<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)
)
docx("z04/laughs.docx", paragraph("&a11;"), laughs + "]>")
docx("z04/attributes.docx", "<w:p " + " ".join(f'w:a{n}="1"' for n in range(800_000)) + "/>")
docx("z04/namespaces.docx", "<w:p " + " ".join(f'xmlns:a{n}="u{n}"' for n in range(300_000)) + "/>")

os.mkdir("z05")
text_file("z05/empty.pdf", "")
with open("z05/noise.docx", "wb") as file:
    file.write(b"PK\x03\x04" + bytes(range(256)) * 40)
span = '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2000000000"/></w:tcPr>'
docx("z05/span.docx", span + paragraph("x") + "</w:tc></w:tr></w:tbl>")
xlsx("z05/merge.xlsx", '<mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>')
overlaps = "".join(f'<mergeCell ref="A{n}:XFD{n + 2000}"/>' for n in range(1, 2001))
xlsx("z05/merges.xlsx", f'<mergeCells count="2000">{overlaps}</mergeCells>')
text_file("z05/attributes.html", "<p " + " ".join(f"a{n}=1" for n in range(300_000)) + ">x</p>")
pdf("z05/arrays.pdf", b"[" * 200_000 + b"]" * 200_000 + b" TJ")
with open("z05/picture.png", "wb") as file:
    head = b"IHDR" + (100_000).to_bytes(4, "big") * 2 + bytes([8, 6, 0, 0, 0])
    file.write(b"\x89PNG\r\n\x1a\n" + b"\0\0\0\x0d" + head + zlib.crc32(head).to_bytes(4, "big"))
    body = b"IDAT" + zlib.compress(bytes(1_000_000))
    file.write((len(body) - 4).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big"))
    file.write(b"\0\0\0\0IEND\xaeB`\x82")
fan = [
    b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>/Length 50>>stream\n"
    b"/X Do /X Do /X Do /X Do /X Do /X Do /X Do /X Do  \nendstream" % (number + 1)
    for number in range(6, 26)
]
pdf("z05/fan.pdf", b"/X Do", fan)

# More of the kinds above; every one is refused, or ended by a limit.
with zipfile.ZipFile("z01/overlap.docx", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("[Content_Types].xml", "<Types/>")
    archive.writestr("word/document.xml", b" " * 60_000_000)
    # Every entry leads to the same bytes, so that the file stays small.
    for number in range(30):
        entry = zipfile.ZipInfo.from_file(__file__, f"word/part{number}.xml")
        shared = archive.getinfo("word/document.xml")
        for member in ["header_offset", "CRC", "compress_size", "file_size", "compress_type"]:
            setattr(entry, member, getattr(shared, member))
        archive.filelist.append(entry)
        archive._didModify = True
with zipfile.ZipFile("z01/strings.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("[Content_Types].xml", "<Types/>")
    with archive.open("xl/sharedStrings.xml", "w", force_zip64=True) as part:
        for _ in range(1200):
            part.write(b"<si><t>x</t></si>" * 60_000)
with zipfile.ZipFile("z01/cells.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("[Content_Types].xml", "<Types/>")
    with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
        for _ in range(100):
            part.write(b'<row><c r="A1"><v>1</v></c></row>' * 20_000)
packer = zlib.compressobj()
bomb = zlib.compress(b"".join(packer.compress(b" " * 1_000_000) for _ in range(1000)) + packer.flush())
form = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n%s\nendstream"
pdf("z01/flate.pdf", b"/X Do", [form % (len(bomb), bomb)])

climbing = '<!DOCTYPE d [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]>'
docx("z04/parameter.docx", paragraph("x"), climbing)
docx("z04/nested.docx", "<w:p>" * 300_000 + "</w:p>" * 300_000)
docx("z04/tables.docx", "<w:tbl><w:tr><w:tc>" * 20_000 + "</w:tc></w:tr></w:tbl>" * 20_000)
docx("z04/unclosed.docx", "<w:p><w:r><w:t>x")
doubled = '<!DOCTYPE d [<!ENTITY a "' + "x" * 50_000 + '">]>'
docx("z04/quadratic.docx", paragraph("&a;" * 50_000), doubled)
xlsx("z04/laughs.xlsx", rows="</sheetData></worksheet>" + laughs + "]>&a11;")
pptx("z04/external.pptx", "&a;")

docx("z05/columns.docx", ("<w:tbl>" + ('<w:tr>' + '<w:tc><w:tcPr><w:gridSpan w:val="999"/></w:tcPr><w:p/></w:tc>' * 999 + "</w:tr>") + "</w:tbl>") * 40)
xlsx("z05/far.xlsx", rows='<row r="4294967296"><c r="XFD4294967296"><v>1</v></c></row>')
pptx("z05/nothing.pptx", "")
text_file("z05/nothing.html", "<!DOCTYPE html><script>" + "x" * 1_000_000)
deep = [b"[" * 200_000 + b"]" * 200_000]
pdf("z05/object.pdf", b"/X Do", deep)
pdf("z05/dictionaries.pdf", b"/X Do", [b"<</A" * 200_000 + b">>" * 200_000])
write_pdf("z05/tree.pdf", [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2000000000>>"])
write_pdf("z05/counted.pdf", [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 2000000000>>"])
with open("good/letter.pdf", "rb") as file:
    letter = file.read()
with open("z05/cut.pdf", "wb") as file:
    file.write(letter[:300])
with open("z05/previous.pdf", "wb") as file:
    file.write(b"%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer<</Size 1/Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF\n")
write_pdf("z05/encrypted.pdf", [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"])
with open("z05/encrypted.pdf", "rb") as file:
    protected = file.read().replace(
        b"/Root", b"/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -4/O(%s)/U(%s)>>/ID[(a)(a)]/Root" % (b"o" * 32, b"u" * 32)
    )
with open("z05/encrypted.pdf", "wb") as file:
    file.write(protected)
with open("good/report.docx", "rb") as file:
    report = file.read()
with open("z05/cut.docx", "wb") as file:
    file.write(report[: len(report) // 2])
with zipfile.ZipFile("z05/bare.docx", "w") as archive:
    archive.writestr("[Content_Types].xml", f'<Types xmlns="{TYPES}"/>')
    archive.writestr("word/nothing.xml", "<x/>")
text_file("z05/cycle.json", '{"schema_name":"DoclingDocument","version":"1.10.0","name":"x","body":{"self_ref":"#/body",'
    '"children":[{"$ref":"#/groups/0"}]},"groups":[{"self_ref":"#/groups/0","label":"list","children":[{"$ref":"#/groups/0"}]}]}')
text_file("z05/deep.json", '{"schema_name":"DoclingDocument","name":' + "[" * 200_000 + "]" * 200_000 + "}")

# These may be converted or refused: a reader withstands them, or a limit ends it.
os.mkdir("withstood")
text_file("withstood/deep.html", "<div>" * 200_000 + "text")
text_file("withstood/span.html", '<table><tr><td colspan="2000000000" rowspan="2000000000">x</td></tr></table>' + "<p>" * 9)
text_file("withstood/tables.html", "<table><tr><td>" * 3_000 + "text")
text_file("withstood/unclosed.html", "<b><i>text" * 100_000)
text_file("withstood/quotes.md", "> " * 100_000 + "text")
text_file("withstood/brackets.md", "[" * 100_000 + "text")
text_file("withstood/braces.rtf", "{\\rtf1 " + "{" * 500_000 + "text" + "}" * 500_001)
text_file("withstood/wide.csv", ",".join(["text"] * 200_000) + "\n" + "," * 200_000)
text_file("withstood/parts.eml", "MIME-Version: 1.0\nSubject: text\n" + "".join(
    f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(5_000)) + "\ntext")
groups = "<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>" * 20_000 + "</p:grpSp>" * 20_000
pptx("withstood/groups.pptx", f"text</a:t></a:r></a:p></p:txBody></p:sp>{groups}<p:sp><p:txBody><a:p><a:r><a:t>")
xlsx("withstood/corner.xlsx", rows='<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>')
shown = b"BT /F 12 Tf 72 700 Td (text) Tj ET "
circle = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>/Length 5>>stream\n/X Do\nendstream"
pdf("withstood/circle.pdf", shown + b"/X Do", [circle])
pdf("withstood/operators.pdf", shown + b"BT /F 1 Tf (a) Tj ET " * 300_000)
pdf("withstood/states.pdf", b"q " * 1_000_000 + shown)
pdf("withstood/rules.pdf", shown + b"".join(b"%d 0 m %d 700 l S 0 %d m 600 %d l S " % (n, n, n, n) for n in range(40_000)))
pdf("withstood/corners.pdf", shown + b"0 0 m " + b"9 9 l 8 0 l " * 500_000 + b"S")
