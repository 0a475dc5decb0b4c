"""List the English words that a comparison of negations goes by."""

# What a negation is about comes after it: one word after a verb's, up to two of a noun's.
VERB_NEGATIONS = frozenset({"not", "never", "cannot", "neither", "nor"})
NOUN_NEGATIONS = frozenset({"no", "without"})
PRONOUNS = frozenset({"nothing", "nobody", "none", "nowhere", "noone"})
# Words that deny what stands beside them, so that a negation may be said with them.
IMPLICIT_NEGATIONS = frozenset(
    """absent avoid ban deny disable disabled disallow disallowed exclude excluded excludes
    excluding fail failed fails failure fewer forbid forbidden forbids ignore ignored ignores
    impossible lack lacking lacks missing neglect omit omits omitted only prevent prevented prevents
    prohibit prohibited refuse refused refuses reject rejected rejects remove removed skip skipped
    skips stop stopped stops unable unless""".split()
)
# Words beside which an assertion holds in part or in a case, so that its denial may hold as well.
HEDGES = frozenset(
    """alone another before barely but else even except few hardly instead just little may might
    optional optionally other otherwise partly private rarely rather seldom some sometimes though
    unless until yet""".split()
)
# Two words that look like a negation and are none.
HARMLESS_PAIRS = frozenset(
    (first, second)
    for first, seconds in (
        ("not", "all always before every just merely necessarily only simply until"),
        ("no", "better doubt fewer later less matter more problem sooner wonder"),
        ("nothing", "but else more other"),
        ("none", "other"),
    )
    for second in seconds.split()
)
# Nor is a "not" after these: "or not", "if not", "why not".
HARMLESS_BEFORE_NOT = frozenset({"or", "if", "why"})
# Words and signs that end a clause; a comma may, and "and" may.
BOUNDARIES = frozenset(
    """; : . ! ? ( ) [ ] — – - -- | · but because while whereas although though if when whenever
    unless until where whether which who whose that so once since""".split()
)
# A clause that such a word opens says of which things, or in which case, and asserts nothing.
CONDITIONS = frozenset("if when whenever unless until where whether which who whose once".split())
# "Not until the build" says when, not that it never happens.
LIMITS = frozenset({"except", "unless", "until"})
ALTERNATIVES = frozenset({"or", "nor"})
AUXILIARIES = frozenset(
    """is are was were be been has have had do does did can could may might must shall should will
    would""".split()
)
# After these "that" begins what is asserted, and after a noun which of its things are meant.
COMPLEMENT_HEADS = frozenset(
    """assume clear ensure ensures fact guarantee guarantees implies implying is know mean means
    note promise remember say says see sees show shows so sure tell tells true was""".split()
)
# Words that may stand between a negation and what it denies.
FILLERS = frozenset(
    """actually always automatically currently directly even ever generally longer normally really
    simply usually yet""".split()
)
