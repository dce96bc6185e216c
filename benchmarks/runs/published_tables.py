"""Rows of the papers' tables, as printed, to compare with models measured here. Pure.

They are shown only if a manager adds them, always marked as reported and with their source. A hyphen means not printed
in the paper. Sources, all in percent:

- BiVLC (Miranda et al. 2024): Table 2 (people, generative models), Table 3 (contrastive models) and Table 4 (by type).
  Of Open CapPa the text that this was taken from lacks the Group score of Table 2; the rest agrees with Table 4.
- SugarCrepe: the column of that name in the same Tables 2 and 3.
- VISLA (Dumpala et al. 2024): Tables 2 and 3 (text encoders), 8 (vision-language models, generic) and 9 (spatial).
- The Hard Positive Truth (Kamath et al. 2024): Table 1; REPLACE is there the mean of attributes and relations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE, SUGARCREPE, VISLA
from benchmarks.runs.reported import HUMAN, ReportedRow

MIRANDA = "BiVLC (Miranda et al. 2024)"
VISLA_PAPER = "VISLA (Dumpala et al. 2024)"
KAMATH = "The Hard Positive Truth (Kamath et al. 2024)"
CONTRASTIVE, GENERATIVE, ENCODER, BOTH = "contrastive", "generative", "text encoder", "vision and language"

# SugarCrepe, I2T, T2I, Group, I pos→T, I neg→T, T pos→I, T neg→I
BIVLC_TABLE_3 = """
CLIP             76.56 75.83 52.40 49.06 84.32 89.50 69.21 82.82
CLIP COCO        84.66 82.75 63.89 60.96 89.06 91.75 72.79 90.86
NegCLIP          85.64 80.74 61.95 58.75 89.53 89.53 70.10 91.34
GNM              81.83 81.32 60.86 57.96 88.00 91.24 80.33 80.33
CLIP TROHN-Text  93.40 78.18 62.19 57.48 93.25 83.87 71.05 90.59
CLIP TROHN-Img   89.40 88.54 71.84 69.25 92.12 95.33 81.45 90.15
"""
# SugarCrepe, I2T, T2I, Group
BIVLC_TABLE_2 = """
Human            98.93 90.40 93.00 86.80
Open CapPa       90.59 57.72 56.19     -
VQAScore-XL      90.85 81.96 76.61 70.20
VQAScore-XXL     93.72 86.16 81.93 76.47
"""
# I2T, T2I, Group of replace; of swap; of add
BIVLC_TABLE_4 = """
CLIP             82.09 60.36 57.27 46.52 16.16 13.65 70.32 44.63 39.58
CLIP COCO        87.99 72.42 69.94 51.53 25.07 20.89 83.16 55.58 51.58
NegCLIP          86.37 70.80 68.03 47.08 24.23 18.66 81.26 51.37 48.00
GNM              86.14 68.70 65.75 50.70 17.83 15.88 83.16 58.74 55.37
CLIP TROHN-Text  83.61 70.03 65.84 54.32 25.35 20.61 72.21 55.37 48.42
CLIP TROHN-Img   91.62 79.18 76.61 62.40 32.03 27.86 94.74 69.47 68.00
Open CapPa       70.32 62.79 53.03 40.95 30.64 20.61 14.74 46.32 9.263
VQAScore-XL      85.95 84.18 78.28 65.18 58.77 48.75 77.05 56.63 50.74
VQAScore-XXL     89.85 88.33 83.85 72.14 66.30 56.82 80.42 65.47 58.74
"""
# T2T (Table 2), P1-N and P2-N (Table 3) of the generic set; of the spatial one
VISLA_TABLES_2_3 = """
All-MiniLM-L6-v2                   58.89  93.22 60.12  43.75  54.38 46.56
Bge-small-en-v1.5                  72.05  93.73 73.48  47.97  53.28 52.81
All-MiniLM-L12-v2                  66.19  94.35 66.91  47.50  53.75 50.31
GTE-small                          64.23  94.66 64.85  48.13  54.69 52.19
Angle-BERT-base-uncased-nli-en-v1  73.69  94.66 74.31  51.56  55.94 58.28
BGE-base-en-v1.5                   72.35  94.14 73.38  50.16  54.38 55.78
Sentence-T5-base                   71.22  94.24 72.05  51.09  55.00 58.59
GTE-base                           67.42  94.55 67.73  50.78  55.63 54.22
Clip-ViT-B-32-multilingual-v1      39.36  78.83 40.90  38.13  52.97 45.47
Clip-ViT-B-32                      34.64  81.71 35.46  30.16  52.66 35.78
Instructor-large                   72.76  93.63 73.48  52.03  56.72 57.66
Instructor-large (custom-ins)      75.03  94.86 75.64  52.81  56.09 61.25
UAE-Large-V1                       72.97  94.14 74.20  49.84  54.69 58.59
GTE-large                          68.24  94.76 68.65  49.06  55.16 57.66
All-RoBERTa-large-v1               71.94  93.94 72.97  47.03  55.00 52.50
Stsb-RoBERTa-large                 70.81  93.01 71.63  50.78  54.22 66.88
LaBSE                              33.92  84.89 35.05  44.53  53.28 45.94
Sentence-T5-xl                     72.05  94.55 72.66  51.09  55.31 63.75
Angle-Llama-7b-nli-v2              78.93  95.89 79.34  52.34  56.41 61.41
E5-Mistral-7b-instruct             78.21  95.58 78.93  52.50  55.31 60.16
"""
# T2T, I2T, P1-N, P2-N of the generic set (Table 8); of the spatial one (Table 9)
VISLA_TABLES_8_9 = """
RN50                          35.56  54.16  70.81  66.50  33.28  45.31  64.84  60.15
RN101                         35.77  53.44  67.42  66.70  31.09  43.90  62.81  57.50
CLIP-ViT-B-32                 34.64  54.88  68.85  67.63  30.16  44.69  63.12  60.63
RN50x4                        32.58  52.00  66.29  65.78  32.81  45.94  63.13  61.56
RN50x16                       33.40  50.98  69.68  63.62  34.84  42.66  59.84  58.44
CLIP-ViT-L-14                 34.94  52.11  64.13  67.63  27.19  42.50  62.97  58.75
RN50x64                       33.40  52.42  68.76  65.36  23.13  40.31  59.22  56.25
ALIGN                         42.34  50.46  67.01  62.90  34.53  35.16  53.13  52.98
ALBEF                         28.26  49.54  76.57  55.09  25.78  42.66  64.38  60.31
SegCLIP                       37.54  57.07  62.47  76.51  25.63  33.59  49.37  52.97
FLAVA                         56.32  59.82  73.38  71.22  28.44  25.31  43.43  41.25
BLIP-Caption-COCO             12.23  36.59  56.01  52.31  31.25  33.62  47.50  48.44
BLIP-ITM-COCO                     -  58.37  73.38  63.01      -  33.59  46.40  41.56
BLIP2                         41.11  51.70  62.28  65.16  40.62  41.09  55.78  58.28
XVLM-4M                       28.57  47.69  77.39  52.93  24.84  42.19  58.59  55.78
XVLM-16M                      47.59  59.40  79.03  65.36  31.41  50.31  66.56  64.38
XVLM-16M-COCO                 61.56  62.38  81.19  66.81  45.16  51.09  67.65  65.93
XVLM-16M-Flickr               58.68  62.08  77.70  68.14  39.69  45.16  64.53  60.31
ViLT                              -  33.61  35.97  76.88      -  20.32  34.06  48.91
ViLT-ITR-COCO                     -  61.05  77.18  67.42      -  50.16  69.06  62.97
AltCLIP                       53.44  57.76  73.18  66.29  35.16  45.00  63.59  62.19
ALIP                          21.07  47.79  74.10  54.47  17.82  38.75  60.47  55.00
RoBERTa-ViT-B-32              53.34  58.89  71.42  67.83  36.25  37.66  55.00  55.47
ViT-H-14                      47.48  53.03  69.58  62.38  30.02  39.84  56.41  57.50
ViT-g-14                      49.23  55.40  71.74  64.23  32.50  40.47  57.50  60.31
ViT-bigG-14                   50.87  56.84  74.62  64.34  35.31  40.48  57.03  56.41
xlm-roberta-base-ViT-B-32     55.09  52.11  67.12  62.28  32.66  37.97  57.97  54.84
xlm-roberta-large-ViT-H-14    56.53  55.40  70.92  63.10  34.38  37.50  54.84  55.00
large:ViT-B-16                35.97  49.43  65.05  60.74  22.03  33.91  56.41  50.31
xlarge:ViT-L-14               46.25  54.47  69.89  64.24  27.97  38.13  55.63  55.94
NegCLIP                       48.72  52.83  73.69  58.79  29.21  34.84  57.34  54.38
CLIP-SVLC                     48.10  44.60  63.72  58.99  30.94  28.75  59.06  49.22
BLIP-SGVL                         -  28.88  30.52  29.91      -  33.75  42.03  40.94
CyCLIP                        26.31  38.23  55.19  54.78  12.50  31.41  51.10  48.13
"""
# Original and augmented of replace, of swap; brittleness of replace, of swap
HARD_POSITIVE_TABLE_1 = """
Human                     97   97    100  100  0    0
CLIP ViT-B/32             61.6 46.8  60.5 49.6 23.2 21.7
NegCLIP                   68.6 52.1  70.9 56.7 21.5 26.4
CREPE-Swap                63.5 50.4  70.6 56.7 19.8 26.0
CREPE-Replace             73.7 53.9  71.1 57.7 23.9 25.4
SVLC                      76.6 44.5  72.4 61.6 39.9 20.8
SVLC+Pos                  64.3 45.0  56.5 45.4 29.8 22.8
DAC-LLM                   87.6 48.9  72.0 61.1 40.1 21.6
DAC-SAM                   86.9 55.9  69.5 56.5 32.5 25.6
Our HN                    73.9 55.7  74.3 60.5 21.0 25.1
Our HP+HN                 69.0 58.0  73.2 61.1 16.9 22.9
Our HP+HN (Swap-only)     63.9 51.6  73.0 61.9 18.6 21.2
Our HP+HN (Replace-only)  70.9 59.0  69.7 55.6 17.8 26.5
"""

SINGLES = ("i2t", "t2i", "group", "i_pos2t", "i_neg2t", "t_pos2i", "t_neg2i")
VISLA_TEXT_MEASURES = ("t2t", "t2t_p1_n", "t2t_p2_n")
VISLA_MEASURES = ("t2t", "i2t", "p1_n", "p2_n")


@dataclass(frozen=True, slots=True)
class Table:
    """`name` identifies the table; `rows` are its models, for benchmarks of `kind`."""

    name: str
    kind: str
    title: str
    rows: Sequence[ReportedRow]


def cells(table: str) -> Iterator[tuple[str, list[float | None]]]:
    """Each line's model and figures. A model's name may have spaces; each line has the same number of figures."""
    lines = table.strip().splitlines()
    width = min(len(line.split()) for line in lines) - 1
    for line in lines:
        model, *values = line.rsplit(maxsplit=width)
        yield model.strip(), [None if one == "-" else float(one) for one in values]


def there(names: Sequence[str], values: Sequence[float | None]) -> dict[str, float]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def family_of(model: str, table: str) -> str:
    return HUMAN if model == "Human" else CONTRASTIVE if table == "3" else GENERATIVE


def of_bivlc() -> Iterator[ReportedRow]:
    types = dict(cells(BIVLC_TABLE_4))
    for number, table in (("2", BIVLC_TABLE_2), ("3", BIVLC_TABLE_3)):
        for model, (_, *values) in cells(table):
            by_type = types.get(model, [])
            source = f"{MIRANDA}, Table{f's {number} and 4' if by_type else f' {number}'}"
            groups: dict[tuple[str, str | None], dict[str, float]] = {
                (kind, None): there(SINGLES[:3], by_type[3 * place : 3 * place + 3])
                for place, kind in enumerate(("replace", "swap", "add"))
                if by_type
            }
            yield ReportedRow(model, source, family_of(model, number), there(SINGLES[: len(values)], values), groups)


def of_sugarcrepe() -> Iterator[ReportedRow]:
    for number, table in (("2", BIVLC_TABLE_2), ("3", BIVLC_TABLE_3)):
        for model, values in cells(table):
            measures = there(("overall",), values[:1])
            yield ReportedRow(model, f"{MIRANDA}, Table {number}", family_of(model, number), measures)


def of_visla(place: int, of_images: int) -> Iterator[ReportedRow]:
    """`place`: 0 of the generic set, 1 of the spatial one; `of_images`: the table of models that see images."""
    for model, values in cells(VISLA_TABLES_2_3):
        measures = there(VISLA_TEXT_MEASURES, values[3 * place : 3 * place + 3])
        yield ReportedRow(model, f"{VISLA_PAPER}, Tables 2 and 3", ENCODER, measures)
    for model, values in cells(VISLA_TABLES_8_9):
        measures = there(VISLA_MEASURES, values[4 * place : 4 * place + 4])
        yield ReportedRow(model, f"{VISLA_PAPER}, Table {of_images}", BOTH, measures)


def of_hard_positives() -> Iterator[ReportedRow]:
    """The paper reports its two parts alone; REPLACE as a mean of subtypes."""
    names = ("original", "augmented", "brittleness")
    for model, values in cells(HARD_POSITIVE_TABLE_1):
        original, augmented, original_swap, augmented_swap, brittle, brittle_swap = values
        groups = {
            ("replace", "mean of subtypes"): there(names, (original, augmented, brittle)),
            ("swap", None): there(names, (original_swap, augmented_swap, brittle_swap)),
        }
        family = HUMAN if model == "Human" else CONTRASTIVE
        yield ReportedRow(model, f"{KAMATH}, Table 1", family, {}, groups)


TABLES: tuple[Table, ...] = (
    Table("bivlc", BIVLC.name, f"{MIRANDA}, Tables 2 to 4", tuple(of_bivlc())),
    Table("sugarcrepe", SUGARCREPE.name, f"SugarCrepe's column of {MIRANDA}, Tables 2 and 3", tuple(of_sugarcrepe())),
    Table("visla-generic", VISLA.name, f"{VISLA_PAPER}, Tables 2, 3 and 8: the generic set", tuple(of_visla(0, 8))),
    Table("visla-spatial", VISLA.name, f"{VISLA_PAPER}, Tables 2, 3 and 9: the spatial set", tuple(of_visla(1, 9))),
    Table("hard-positives", HARD_POSITIVE.name, f"{KAMATH}, Table 1", tuple(of_hard_positives())),
)


def tables_for(kind: str) -> list[Table]:
    return [table for table in TABLES if table.kind == kind]
