"""Changes of known kind, many ways of saying each, and what must not be taken for one.

Each row is a text with a hole and what goes into it; `test_kind_neighbours` plants every pair of
values, both ways round, into bodies of one shape after the other.
"""

from __future__ import annotations

ADA, BEN = "Ada", "Ben"
PEOPLE = [
    *("reader: {}", "Reader: {}", "- Reader: {}", "**Reader:** {}", "reader = {}", "* reader - {}"),
    *("| reader | {} |", "<reader>{}</reader>", '<reader name="{}"/>', '{{"reader": "{}"}}'),
    *("student: {}", "Learner: {}", "Patient: {}", "Guest: {}", "caller: {}", "visitor: {}"),
    *("Recipient: {}", "Requested by: {}", "Asked by: {}", "Prepared for: {}", "Operator: {}"),
    *("For: {}", "To: {}", "Served today: {}", "Account holder: {}", "Human: {}", "Viewer: {}"),
    *("Your reader is {}.", "The reader is {}.", "{} is reading this.", "{} is your user."),
    *("You answer questions of {}.", "Address the user as {}.", "Call the user {}."),
    *("The user goes by {}.", "This session belongs to {}.", "You are speaking with {}."),
    *("You work for {} today.", "{}'s preferences:\nshort answers", "Hello {}, welcome back."),
    *("user:\n  name: {}\n  since: 2019", "Customer\n  Name: {}", "USER_NAME={}", "[user] {}"),
    *(
        '<user name="{}">',
        '{{"user": {{"name": "{}"}}}}',
        '{{"first_name": "{}"}}',
        "user_name={};",
    ),
    *("Leser: {}", "Leserin: {}", "Benutzer: {}", "Nutzerin: {}", "Kunde: {}", "Anwender: {}"),
    *("Du hilfst {}.", "Sie sprechen mit {}.", "Angemeldet als {}", "Der Benutzer heißt {}."),
    *("Utilisateur : {}", "Lectrice : {}", "Vous aidez {}.", "Connecté en tant que {}", "Nom : {}"),
    *("Usuario: {}", "Lector: {}", "Cliente: {}", "Ayudas a {}.", "Nombre: {}", "Destinatario: {}"),
    *("Usuária: {}", "Leitor: {}", "Nome: {}", "Utente: {}", "Lettore: {}", "Stai aiutando {}."),
    *("Gebruiker: {}", "Lezer: {}", "Naam: {}", "Användare: {}", "Läsare: {}", "Bruker: {}"),
    *("Użytkownik: {}", "Czytelnik: {}", "Пользователь: {}", "Читатель: {}", "Имя: {}"),
    *(
        "ユーザー：{}",
        "読者: {}",
        "用户：{}",
        "读者: {}",
        "姓名：{}",
        "사용자: {}",
        "Kullanıcı: {}",
    ),
]
NAMES = [("Ada", "Ben"), ("Ada Lind", "Ben Osei"), ("Zoë", "José"), ("Ada Lind", "Ben")]
SCRIPTS = [
    ("ユーザー：{}", "田中", "鈴木"),
    ("用户：{}", "李雷", "韩梅梅"),
    ("읽는 사람: {}\n사용자: {}", "민준", "서연"),
    ("Пользователь: {}", "Анна", "Борис"),
    ("Читатель: {}", "Анна Орлова", "Борис"),
    ("Reader: {}", "Анна", "田中"),
    ("المستخدم: {}", "آدا", "بن"),
    ("Χρήστης: {}", "Άννα", "Νίκος"),
]
OTHER_PEOPLE = [
    ("login: {}", "ada-l", "ben-o"),
    ("Reader: {}", "ada@pier.example", "ben@pier.example"),
    ("reader_id: {}", "r-8812", "r-9034"),
    ("Student number: {}", "20118", "20934"),
    ("Patient: {}", "P-2201", "P-7710"),
    ("Reader: {} (gold)", "Ada", "Ben"),
    ("Reader: {}, since 2019", "Ada", "Ben"),
    ("reader: {}", "Ada Lind, Wexcombe", "Ben Osei, Wexcombe"),
    ("Membership: {}", "gold", "silver"),
    ("Phone: {}", "+47 22 10 10 10", "+47 22 93 11 84"),
]
NOT_PEOPLE = [
    ("Reader: {}", "write short sentences", "write long sentences"),
    ("Audience: {}", "beginners", "experts"),
    ("Readers: {}", "growers of the valley", "growers of the coast"),
    ("The reader is {}.", "busy", "patient"),
    ("Tone: {}", "Friendly", "Formal"),
    ("Title: {}", "Harbour rules", "Pier rules"),
    ("Format: {}", "Markdown", "Plain"),
    ("For: {}", "every answer", "each answer"),
    ("Always write {}.", "plainly", "briefly"),
    ("Assistant: {}", "be brief", "be kind"),
    ("Help the reader {}.", "decide", "choose"),
    ("Ask the user {}.", "once", "twice"),
    ("{} are checked first.", "Piers", "Boats"),
    ("Note: {}", "Boats are late.", "Boats are early."),
    ("Speak of the {} pier.", "North", "South"),
    ("# {}", "Tides", "Fares"),
    ("Name the {} first.", "pier", "boat"),
    ("Example: {}", "Count the boats.", "Count the piers."),
    ("To: {}", "be read first", "be read last"),
    ("{}", "", "The user is the one who decides."),
    ("{}", "", "Reader: write short sentences."),
    ("{}", "", "Tell the reader when a boat is late."),
    ("{}", "", "Users of the north pier come first."),
    ("{}", "", "The Harbour Office is closed on Sunday afternoons."),
    ("{}", "", "Use Markdown. Write for the Reader."),
    ("<rules>\nReaders like {} answers.\n</rules>", "short", "long"),
]
LISTINGS = [
    "<directory_tree>\n- pump/\n  - timer.md\n{}- rooms/\n</directory_tree>",
    "<files>\npump.py\n{}rooms.py\n</files>",
    "<file_tree>\nsrc/\n  pump.py\n{}  rooms.py\n</file_tree>",
    "<project_layout>\nsrc/pump.py\n{}src/rooms.py\n</project_layout>",
    "<workspace>\nsrc\n{}tests\n</workspace>",
    "<directoryStructure>\nsrc/\n{}tests/\n</directoryStructure>",
    "<repo-map>\nsrc/pump.py\n{}src/rooms.py\n</repo-map>",
    "<open_tabs>\nsrc/pump.py\n{}src/rooms.py\n</open_tabs>",
    "<context>\nsrc/pump.py\n{}src/rooms.py\n</context>",
    "<listing>\npump.csv  1204\n{}rooms.csv  88\n</listing>",
    "# Files in the folder\n\n- pump.csv\n{}- rooms.csv\n",
    "Here is the folder:\n\n- pump.csv\n{}- rooms.csv\n",
    "<env>\nContents:\npump.csv\n{}rooms.csv\n</env>",
    "<folder>\n├── pump.csv\n{}└── rooms.csv\n</folder>",
    "<git_status>\n M src/pump.py\n{}</git_status>",
    "<ls>\npump.csv\n{}rooms.csv\n</ls>",
]
ENTRIES = ["- valve.csv\n", "src/valve.py\n", "  valve.py\n", "├── valve.csv\n", "valve.csv  77\n"]
NOT_LISTINGS = [
    ("<project-notes>\n- Read rooms.csv first.\n{}</project-notes>", "", "- Then read pump.csv.\n"),
    ("<rules>\n- Write tests.\n{}</rules>", "", "- Write docs.\n"),
    ("<guidelines>\nBe brief.\n{}</guidelines>", "", "Be kind.\n"),
    ("# Layout\n\n- `src/` holds the code.\n{}", "", "- `tests/` holds the tests.\n"),
    ("<memory>\n- Ask first.\n{}</memory>", "", "- Count the piers.\n"),
    ("Write the answer to {}.", "answer.md", "result.md"),
    ("<output_format>\n{}\n</output_format>", "One table.", "One list."),
    ("Files are named {}.", "by day", "by pier"),
]
CLOCKS = [
    ("<time>{}</time>", "2026-09-02T14:58:23.413Z", "2026-09-02T14:58:23.869Z"),
    ("The current time is: {}", "2026-09-02T14:58:23.413Z", "2026-09-02T14:58:23.869Z"),
    ("Now {}", "14:58:23.413", "14:58:23.414"),
    ("Now {}", "14:58:23,413", "14:58:23,900"),
    ("Now: {}", "2026-09-02 14:58:23.413512+00:00", "2026-09-02 14:58:23.413999+00:00"),
    ("Now: {}", "2026-09-02T14:58:23Z", "2026-09-02T14:58:23.869Z"),
    ("Now: {}", "2026-09-02T14:58:23.1Z", "2026-09-02T14:58:23.123Z"),
    ("Now: {}", "1788361103413", "1788361103869"),
    ("Now: {}", "1788361103.413", "1788361103.869"),
    ("Now: {}", "20260902T145823.413Z", "20260902T145823.869Z"),
    ("Now: {}", "Wed, 02 Sep 2026 14:58:23.413 GMT", "Wed, 02 Sep 2026 14:58:23.869 GMT"),
    ("- The time: {} (UTC)", "2026-09-02 14:58:23.001", "2026-09-02 14:58:23.002"),
    ('{{"now": "{}"}}', "2026-09-02T14:58:23.413Z", "2026-09-02T14:58:23.869Z"),
    ("Uptime: {} s", "120.013", "120.469"),
]
CAME_CLOCKS = ["Now 09:00:51.", "Local time: 09:00:51", "It is 09:00:51.", "Heute: 2. März 2026"]
LOCALES = [
    ("Now: {}", "2026-09-02T14:58:23.413Z", "2026-09-02T14:58:23.413000Z"),
    ("Now: {}", "2026-09-02T14:58:23Z", "2026-09-02T14:58:23.000Z"),
    ("Now: {}", "2026-09-02T14:58:23.413Z", "2026-09-02T16:58:23.413+02:00"),
    ("Now: {}", "2026-09-02 14:58:23.413", "02.09.2026 14:58:23,413"),
]
MODES = [
    ("{}\nBe brief.", "You are in plan mode.", "You are in act mode."),
    ("Mode: {}", "plan", "act"),
    ("mode: {}", "architect", "code"),
    ("<mode>{}</mode>", "ask", "edit"),
    ("Current mode: {}", "PLAN", "ACT"),
    ("{} is active.", "Plan mode", "Build mode"),
    ("# Mode\n{}", "Planner", "Builder"),
    ("{}", "Plan mode is active. Do not edit.", "Build mode is active. You may edit."),
    ("Agent: {}", "planner", "builder"),
    ("You are {}.", "Claude Code, Anthropic's official CLI for Claude", "a Claude agent"),
    ("You are {}.", "the planner of the pier", "the reviewer of the pier"),
    ("Active agent: {}", "scout", "scribe"),
    ("Persona: {}", "pilot", "clerk"),
    ("Du bist {}.", "der Planer", "die Prüferin"),
    ("Tu es {}.", "un planificateur", "un relecteur"),
    ("Eres {}.", "un planificador", "un revisor"),
    ("{}", "Act as a planner.", "Act as a reviewer."),
    ("Your role is {}.", "to plan", "to review"),
]
NOT_MODES = [
    ("Use {} mode for long lists.", "compact", "wide"),
    ("Never leave {} mode by yourself.", "plan", "act"),
    ("The printer's mode is set to {} in the hall.", "grey", "colour"),
    ("You are allowed to {}.", "read", "write"),
    ("Modes of payment: say {}.", "cash", "card"),
]
COUNTERS = [
    ("workspace_state", "{} files in the folder", "1204", "1207"),
    ("workspace_state", "There are {} open files.", "3", "5"),
    ("workspace_state", "Uncommitted changes: {}", "3", "5"),
    ("workspace_state", "{} commits ahead of main", "2", "4"),
    ("prompt_text_edit", "Change at most {} files.", "3", "5"),
    ("prompt_text_edit", "Answer in {} sentences.", "3", "5"),
    ("prompt_text_edit", "Name {} piers.", "3", "5"),
]
EDITS = [
    ("Be {}.", "brief", "kind"),
    ("{}", "Ask first.", "Ask last."),
    ("Say the {} of the boat.", "name", "number"),
    ("<memory>\n- The pier {}.\n</memory>", "opens late", "opens early"),
    ("# Rules\n\n1. {}\n2. Count.", "Look.", "Read."),
    ("Never {} a sailing.", "cancel", "move"),
    ("Quote prices in {}.", "crates", "boxes"),
    ("{} is the harbour of the office.", "Wexcombe", "Larkspur"),
    ("Speak {} to the growers.", "softly", "clearly"),
    ("A full boat is {}.", "marked", "noted"),
]

MORE = [
    ("user_identity", "Shopper name: {}", "Maria Weiss", "Tom O'Neil"),
    ("user_identity", "You're chatting with {} from Lyon.", "Chloé", "Marc"),
    ("user_identity", "Today's rider is {}.", "Ines", "Paul"),
    ("user_identity", "Pilot on duty: {}", "Ines Roth", "Paul Kern"),
    ("user_identity", "<customer_name>{}</customer_name>", "Ines", "Paul"),
    ("user_identity", "user_profile:\n  first_name: {}\n  plan: gold", "Ines", "Paul"),
    ("user_identity", '{{\n  "viewer": {{\n    "displayName": "{}"\n  }}\n}}', "Ines", "Paul"),
    ("user_identity", "Hi {}!", "Ines", "Paul"),
    ("user_identity", "Dear {},", "Ines", "Paul"),
    ("user_identity", "Logged in: {}", "Ines", "Paul"),
    ("user_identity", "The person you assist is {}.", "Ines", "Paul"),
    ("user_identity", "The name of the reader is {}.", "Ines", "Paul"),
    ("user_identity", "My name is {}.", "Ines", "Paul"),
    ("user_identity", "I am {}, your user.", "Ines", "Paul"),
    ("user_identity", "Ihr Gesprächspartner ist {}.", "Ines", "Paul"),
    ("user_identity", "Patientin: {}", "Ines Roth", "Paula Kern"),
    ("user_identity", "Bewohner: {}", "Ines", "Paul"),
    ("user_identity", "Élève : {}", "Inès", "Paul"),
    ("user_identity", "Le lecteur s'appelle {}.", "Inès", "Paul"),
    ("user_identity", "La usuaria es {}.", "Inés", "Paula"),
    ("user_identity", "読者は{}さんです。", "田中", "鈴木"),
    ("user_identity", "用户是{}。", "李雷", "王芳"),
    ("user_identity", "お客様：{}様", "田中", "鈴木"),
    ("user_identity", "Имя пользователя: {}", "Анна", "Борис"),
    ("user_identity", "Собеседник: {}", "Анна", "Борис"),
    ("user_identity", "Reader\t{}", "Ines", "Paul"),
    ("user_identity", "reader: '{}'", "Ines", "Paul"),
    ("user_identity", "Reader: “{}”", "Ines", "Paul"),
    ("user_identity", "Reader: {} <i@x.example>", "Ines", "Paul"),
    ("user_identity", "Reader: Dr. {}", "Ines Roth", "Paul Kern"),
    ("user_identity", "Reader: Ms {}", "Roth", "Kern"),
    ("user_identity", "Reader: Ines {}", "Roth", "Kern"),
    ("user_identity", "reader: {}", "ines", "paul"),
    ("user_identity", "reader: {}", "INES ROTH", "PAUL KERN"),
    ("user_identity", "Reading for {} tonight.", "Ines", "Paul"),
    ("user_identity", "Write as if to {}.", "Ines", "Paul"),
    ("user_identity", "This assistant serves {}.", "Ines", "Paul"),
    ("user_identity", "Owner of this account: {}", "Ines", "Paul"),
    ("user_identity", "<!-- reader: {} -->", "Ines", "Paul"),
    ("user_identity", "Reader (name): {}", "Ines", "Paul"),
    ("user_identity", 'reader.name = "{}"', "Ines", "Paul"),
    ("user_identity", "READER: {}", "Ines", "Paul"),
    ("user_identity", "Reader → {}", "Ines", "Paul"),
    ("user_identity", "tenant: {}", "acme", "globex"),
    ("user_identity", "Company: {}", "Acme", "Globex"),
    ("user_identity", "Household of {}", "Ines", "Paul"),
    ("user_identity", "## User: {}", "Ines", "Paul"),
    ("user_identity", "{} asked you to be brief.", "Ines", "Paul"),
    ("user_identity", "{} prefers short answers.", "Ines", "Paul"),
    ("user_identity", "{} lives in Wexcombe.", "Ines", "Paul"),
    ("user_identity", "Team: {}", "Red", "Blue"),
    ("user_identity", "Speaking with: {}", "Ines", "Paul"),
    ("prompt_text_edit", "Boats of the {} line leave first.", "Red", "Blue"),
    ("prompt_text_edit", "Write the title in {}.", "Latin", "Greek"),
    ("prompt_text_edit", "Style guide: {}", "Chicago", "Oxford"),
    ("prompt_text_edit", "Call the {} first.", "Keeper", "Pilot"),
    ("prompt_text_edit", "Answer for {} boats only.", "Big", "Small"),
    ("prompt_text_edit", "Help {} find a boat.", "People", "Guests"),
    ("prompt_text_edit", "Greet with: {}", "Good day", "Welcome"),
    ("prompt_text_edit", "The user is {}.", "never wrong", "always right"),
    ("prompt_text_edit", "The reader is told {}.", "first", "last"),
    ("prompt_text_edit", "A guest: {}", "someone who stays a night", "someone who stays a week"),
    ("prompt_text_edit", "Never name {} in an answer.", "a price", "a boat"),
    ("prompt_text_edit", "Use {} for tables.", "Markdown", "Html"),
    ("prompt_text_edit", "{} is the default.", "Markdown", "Html"),
    ("prompt_text_edit", "Write {}.", "Plainly", "Briefly"),
    ("prompt_text_edit", "Speak to the {} Office.", "Harbour", "Ferry"),
    ("prompt_text_edit", "Headline: {}", "Boats Are Late", "Boats Are Early"),
    ("prompt_text_edit", "Step 1: {}", "Look", "Read"),
    ("prompt_text_edit", "Rule: {}", "Ask", "Wait"),
    ("prompt_text_edit", "Section: {}", "Tides", "Fares"),
    ("prompt_text_edit", "Topic: {}", "Tides", "Fares"),
    ("prompt_text_edit", "Product: {}", "Quay", "Larkspur"),
    ("prompt_text_edit", "See {} for more.", "Tides", "Fares"),
    ("prompt_text_edit", "1. {} first.", "Boats", "Piers"),
    ("prompt_text_edit", "The {} is closed.", "Pier", "Hall"),
    ("prompt_text_edit", "<instructions>\n{}\n</instructions>", "Be brief.", "Be kind."),
    ("prompt_text_edit", "<examples>\nQ: {}\n</examples>", "How wet is it?", "How cold is it?"),
    (
        "prompt_text_edit",
        "<changes>\n{}\n</changes>",
        "Say what you changed.",
        "Say why you changed it.",
    ),
    ("prompt_text_edit", "<layout>\n{}\n</layout>", "One column.", "Two columns."),
    (
        "prompt_text_edit",
        "<paths>\n{}\n</paths>",
        "Write them in full.",
        "Write them from the root.",
    ),
    ("prompt_text_edit", "<tree>\n{}\n</tree>", "Prune in winter.", "Prune in spring."),
    ("workspace_state", "<directory>\n{}</directory>", "a.md\nb.md\n", "a.md\n"),
    (
        "workspace_state",
        "<project_structure>\nsrc/\n  app.ts\n{}</project_structure>",
        "",
        "  db.ts\n",
    ),
    ("workspace_state", "<files_in_context>\n{}src/app.ts\n</files_in_context>", "src/db.ts\n", ""),
    ("workspace_state", "<open_files>\n{}\n</open_files>", "src/app.ts", "src/db.ts"),
    ("workspace_state", "Current directory contents:\nREADME.md\n{}src/\n", "", "Makefile\n"),
    (
        "workspace_state",
        "# Current Working Directory (/srv/quay) Files\nREADME.md\n{}src/\n",
        "",
        "Makefile\n",
    ),
    ("workspace_state", "# VSCode Visible Files\n{}\n", "src/app.ts", "src/db.ts"),
    ("workspace_state", "# VSCode Open Tabs\n{}\n", "src/app.ts,src/db.ts", "src/app.ts"),
    ("workspace_state", "<untracked>\n{}</untracked>", "", "notes.txt\n"),
    ("workspace_state", "<git>\nbranch: {}\n</git>", "main", "tides"),
    (
        "workspace_state",
        "<project-files>\n  README.md\n{}  src/app.ts\n</project-files>",
        "",
        "  src/db.ts\n",
    ),
    (
        "workspace_state",
        '<folder_listing path="/srv/quay">\n[DIR] src\n{}[FILE] README.md\n</folder_listing>',
        "",
        "[DIR] docs\n",
    ),
    ("workspace_state", "<env>\n  Directory tree:\n    src/\n{}</env>", "", "    docs/\n"),
    ("catalog", "<skills>\n- tide\n{}</skills>", "", "- dock\n"),
    (
        "catalog",
        "<available_agents>\nscout.md: looks\n{}</available_agents>",
        "",
        "scribe.md: writes\n",
    ),
    ("clock", "<ts>{}</ts>", "1788361103.413", "1788361103.869"),
    ("clock", "now={}", "2026-09-02T14:58:23.413456Z", "2026-09-02T14:58:23.999999Z"),
    ("clock", "Time: {}", "2:58:23.413 PM", "2:58:23.869 PM"),
    ("clock", "generated {}", "2026-09-02T14:58:23.413+02:00", "2026-09-02T14:58:23.869+02:00"),
    ("clock", "generated {}", "2026-09-02T14:58:23.413+0200", "2026-09-02T14:58:24.001+0200"),
    ("clock", "Current datetime: {}", "2026-09-02 14:58:23,413", "2026-09-02 14:58:23,869"),
    ("clock", "Elapsed: {}", "0.413s", "0.869s"),
    ("agent_prompt", "<system_mode>{}</system_mode>", "plan", "act"),
    ("agent_prompt", "You are operating in {} mode.", "plan", "build"),
    ("agent_prompt", "You are now a {}.", "planner", "reviewer"),
    ("agent_prompt", "Your current mode is {}.", "architect", "code"),
    ("agent_prompt", "[MODE: {}]", "PLAN", "EXECUTE"),
    ("agent_prompt", "## Mode: {}", "Plan", "Execute"),
    ("agent_prompt", "<current_mode>\n<slug>{}</slug>\n</current_mode>", "code", "ask"),
    ("agent_prompt", "Du bist jetzt im {}.", "Planmodus", "Baumodus"),
    ("agent_prompt", "You are {}, a subagent.", "Scout", "Scribe"),
    ("agent_prompt", "I am {}.", "a planner", "a reviewer"),
]


NAME_ALONE = [
    *("Captain: {}", "Shift lead: {}", "Nurse on call: {}", "Written by: {}", "Signed, {}"),
    *("Session for {}", "Authenticated as {}", "Good morning, {}.", "Message from {}:", "Who: {}"),
    *("This is for {}.", "Help {} with the harvest.", "You are writing to {}.", "# About {}"),
    *("You are {}'s tutor.", "You report to {}.", "Say {} when you address the user."),
    *("{} has logged in.", "{}, a nurse from Lyon, reads your answers.", "## {}'s notes"),
    *("Te habla {}.", "Je praat met {}.", "Oggi legge {}.", "Mr. {}"),
]
"""Nothing but the name says that somebody is served."""
KNOWN_NAMES = [("Ada", "Ben"), ("Priya", "Tomasz"), ("Ingrid Moe", "Kwame"), ("Zoë", "Jean-Luc")]
AGENTS = [
    ("agent_prompt", "You are {}.", "Ada", "Ben"),
    ("agent_prompt", "You are called {}.", "Ada", "Ben"),
    ("prompt_text_edit", "The assistant is called {}.", "Ada", "Ben"),
    ("catalog", "Available agents:\n- Ada: looks\n- {}\n", "Ben: writes", "Cora: counts"),
    ("agent_prompt", "Sub-agent: {}", "planner", "reviewer"),
    ("agent_prompt", "Permission mode: {}", "plan", "acceptEdits"),
    ("agent_prompt", "MODE={}", "plan", "act"),
    ("agent_prompt", "{} mode enabled. Follow its rules.", "Plan", "Act"),
    ("workspace_state", "HEAD is at {}", "3f2a9c1 Add piers", "91bd0ee Add tides"),
    ("workspace_state", "The user has {} open in the editor.", "src/app.py", "src/db.py"),
    ("prompt_text_edit", "Driver: {}", "Postgres", "Sqlite"),
    ("prompt_text_edit", "{} comes first.", "Safety", "Speed"),
    ("prompt_text_edit", "Refer to the guide as {}.", "Handbook", "Manual"),
]


def rows() -> list[tuple[str, str, str]]:
    """Give every planted change: its kind and the two texts."""
    found = [
        ("user_identity", form.format(*[old] * 2), form.format(*[new] * 2))
        for form in PEOPLE
        for old, new in NAMES
    ]
    found += [("user_identity", "", form.format(*["Ada Lind"] * 2)) for form in PEOPLE[:34]]
    found += [
        ("user_identity", form.format(old), form.format(new))
        for form in NAME_ALONE
        for old, new in KNOWN_NAMES
    ]
    found += [("user_identity", "", form.format("Ada Lind")) for form in NAME_ALONE[:4]]
    found += [("clock", "", line) for line in CAME_CLOCKS]
    found += [_row("user_identity", *row) for row in [*SCRIPTS, *OTHER_PEOPLE]]
    found += [
        ("workspace_state", form.format(""), form.format(_entry(form)))
        for form in LISTINGS
        if "git_status" not in form
    ]
    for kind, table in (
        ("prompt_text_edit", [*NOT_PEOPLE, *NOT_LISTINGS, *NOT_MODES, *EDITS]),
        ("clock", CLOCKS),
        ("locale", LOCALES),
        ("agent_prompt", MODES),
    ):
        found += [_row(kind, *row) for row in table]
    return found + [_row(*row) for row in [*COUNTERS, *MORE, *AGENTS]]


def _row(kind: str, form: str, old: str, new: str) -> tuple[str, str, str]:
    return kind, form.format(*[old] * 2), form.format(*[new] * 2)


def _entry(form: str) -> str:
    """Write one more entry the way the entries around it are written."""
    above = form[: form.index("{}")].rstrip("\n").rsplit("\n", 1)[-1]
    return above.replace("pump", "valve").replace("timer", "valve").replace("src", "docs") + "\n"
