"""How prompts name the person who is served: labels, phrases and names, in several languages.

    reader: Ada     | Kunde | Ada Lind |     <user name="Ada">     You are speaking with Ada.
    └ label ┘└ name ┘                                               └ phrase             ┘

Rule 1: a label needs a joint (a colon, an equals sign, a cell, a tag) and behind it a name and
nothing else; `Reader: write short sentences` says nothing about a person.
Rule 2: a name is a few words with capitals, or a few characters of a script that has none.
"""

from __future__ import annotations

import re

_NOUNS = (
    # who is served, by the trade of the harness
    r"user|reader|customer|student|learner|pupil|patient|guest|caller|visitor|viewer|player|member"
    r"|subscriber|recipient|addressee|operator|human|principal|requester|requestor|asker|inquirer"
    r"|buyer|shopper|passenger|traveller|traveler|resident|applicant|candidate|employee|colleague"
    r"|assignee|reporter|speaker|interlocutor|beneficiary|listener|rider|pilot|author|owner|person|profile"
    r"|account holder|(?:signed|logged)[- ]in|served|serving|assisting|helping|on behalf of"
    r"|(?:requested|asked|sent|opened|started|used|initiated) by|prepared for|on shift"
    r"|who is asking|who you (?:serve|help)|chatting with|talking to|speaking (?:to|with)|contact"
    r"|nick(?:name)?|preferred name|known as|call (?:me|them|her|him)|addressed as"
    # German
    r"|leser(?:in)?|(?:be)?nutzer(?:in)?(?:name)?|kund(?:e|in)|anwender(?:in)?|mitarbeiter(?:in)?"
    r"|schüler(?:in)?|patientin|gast|empfänger(?:in)?|teilnehmer(?:in)?|mitglied|auftraggeber(?:in)?"
    r"|angemeldet(?: als)?|besucher(?:in)?|inhaber(?:in)?"
    r"|bewohner(?:in)?|gesprächspartner(?:in)?|hörer(?:in)?"
    # French, Spanish, Portuguese, Italian
    r"|utilisat(?:eur|rice)|lect(?:eur|rice)|cliente|client(?=\s+:)|destinataire|élève|patiente"
    r"|étudiante?|usager|abonnée?|connectée?(?: en tant que)?|interlocut(?:eur|rice)"
    r"|usuari[oa]|lector[ae]?|destinatari[oa]|alumn[oa]|estudiante|paciente|usuári[oa]|leitora?"
    r"|utilizadora?|alun[oa]|utente|lett(?:ore|rice)|studente(?:ssa)?|paziente"
    # Dutch, the North, Polish, Czech, Turkish
    r"|gebruiker|lezer(?:es)?|klant|användare|läsare|kund|bruker|bruger|leser|læser|kunde"
    r"|käyttäjä|lukija|asiakas|użytkowni(?:k|czka)|czytelni(?:k|czka)|klient(?:ka)?|uživatel(?:ka)?"
    r"|čtenář(?:ka)?|kullanıcı|okuyucu|okur|müşteri|felhasználó|olvasó"
    # other scripts
    r"|собеседник|пользовател[ья]|читател[ья]|клиент|користувач|читач|χρήστης|αναγνώστης|πελάτης"
    r"|ユーザー|ユーザ|利用者|読者|お客様|顧客|用户|用戶|使用者|读者|讀者|客户|客戶|顾客"
    r"|사용자|독자|고객|이용자|المستخدم|القارئ|العميل|משתמש|קורא|उपयोगकर्ता|पाठक|ผู้ใช้"
    r"|người dùng|pengguna|읽는 사람"
)
_LINE_KEYS = (
    # what says so at the start of a line alone: these words have other uses
    r"name|(?:first|last|given|family|full|display)[ _-]?name|surname|for|to|dear|attn\.?"
    r"|(?:vor|nach)?name|für|an|nom|prénom|pour|à|nombre|apellidos?|para|nome|cognome|sobrenome|per"
    r"|naam|voornaam|voor|namn|för|navn|for|nimi|imię|nazwisko|dla|jméno|pro|isim|ad[ıi]?|név"
    r"|имя|фамилия|для|ім'я|όνομα|名前|氏名|姓名|名字|이름|성명|الاسم|שם|नाम|ชื่อ|tên|nama"
)
_SUFFIX = r"(?:[ _.-]?(?:name|login|handle|full name))?"
_ID_SUFFIX = r"[ _.-]?(?:ids?|uuid|number|num|no\.?|nr\.?|e-?mail|key|ref(?:erence)?)"
_BETWEEN = r"(?:[ \t()\"'`*_/-]+[\w.-]+){0,2}[ \t()\"'`*_]*"
_JOINT = r"(?:[:=：|>\]\tは是]|->|→|\s[-–—](?=\s)|\bis\b|\bist\b|\best\b|\bes\b|\bé\b|\bè\b)"
_OPENING = r"[\s\"'`*_<(\[«„“‘「『]*"
_BY_NOUN = re.compile(
    rf"(?:^|[^\w])(?:{_NOUNS}){_SUFFIX}{_BETWEEN}{_JOINT}{_OPENING}$", re.IGNORECASE
)
_BY_ID = re.compile(
    rf"(?:^|[^\w])(?:{_NOUNS}){_ID_SUFFIX}\b{_BETWEEN}{_JOINT}{_OPENING}$", re.IGNORECASE
)
_BY_KEY = re.compile(rf"^[\W_]*(?:{_LINE_KEYS})[\"'`*_]*\s*[:=：]{_OPENING}$", re.IGNORECASE)
_PHRASE = re.compile(
    r"(?i:(?:^|[^\w])(?:assisting|you(?:r job is to)? (?:now )?(?:help|assist|serve|support|answer"
    r"|work for|work with|write for|speak (?:to|with|for)|talk (?:to|with))"
    r"|questions (?:of|from|by)"
    r"|helping|serving|on behalf of|working (?:with|for)|talking (?:to|with)|speaking (?:with|to)"
    r"|chatting with|assistant (?:of|to|for)|prepared for|written for|belongs to"
    r"|reading (?:for|to)|as if (?:to|for)|(?:assistant|agent) (?:serves|helps|assists|supports)"
    r"|(?:household|family|account|assistant|session) of|hello|hi|dear"
    r"|welcome(?: back)?|(?:your|the) (?:user|reader|customer|client|person|caller|student|patient)"
    r"(?: today)?(?: is|'s name is| goes by|,)?|person is|called|named|goes by|call me|my name is"
    r"|(?:address|call|greet|refer to) (?:them|him|her|the (?:user|reader|customer|person))(?: as)?"
    r"|(?:mr|mrs|ms|miss|dr|prof|madam|herr|frau|monsieur|madame|mme|señora?|signora?|senhora?)\.?"
    r"|reply to|write to|notify|signed in as|logged in as|signed in with"
    r"|(?:du hilfst|sie helfen|ihr helft|sprichst mit|sprechen mit|arbeitest für|arbeiten für)"
    r"|angemeldet als|hei(?:ß|ss)t|namens|im auftrag von|gehört|hallo|liebe[r]?"
    r"|(?:vous|tu) (?:aide[sz]|assiste[sz]|parle[sz] (?:à|avec)|travaille[sz] pour)"
    r"|connectée? en tant que|s'appelle|bonjour|au nom de"
    r"|ayudas? a|asistes? a|hablas? con|trabajas? para|se llama|sesión (?:de|iniciada como)|hola"
    r"|(?:você|tu) ajudas?(?: a| o)?|falas? com|trabalhas? para|chama-se|olá"
    r"|stai aiutando|aiuti|parli con|lavori per|si chiama|ciao"
    r"|(?:je|u) helpt|(?:je|u) spreekt met|heet|du hjälper|du pratar med|heter|du hjelper"
    r"|du hjælper"
    r"|du snakker med|hedder|pomagasz|rozmawiasz z|nazywa się|pomáháš|mluvíš s"
    r"|(?:вы|ты) (?:помогаете|помогаешь|говорите с|говоришь с)|зовут))"
    r",?\s+[\"'`*]*$|(?:帮助|幫助|协助|協助|服务|服務)$"
)
_BEHIND = re.compile(
    r"(?:['’]s? (?:preferences|profile|settings|account|notes|memory|memories|assistant|history"
    r"|data"
    r"|session|workspace|schedule|details|context|questions|requests?|device|calendar|orders?)\b"
    r"|,? (?:is|are) (?:now )?(?:reading|asking|speaking|talking|typing|using|writing|signed in"
    r"|logged in|here|your|the (?:user|reader|customer|client|owner|person)\b)"
    r"|,? (?:reads|asks|asked|uses|wrote|writes to|talks to) (?:this|you)\b"
    r"|,? (?:prefers|likes|lives in|works (?:at|as)|speaks|studies|was born|joined)\b"
    r"|, (?:the|your) (?:user|reader|customer|client|owner|person)\b"
    r"|,? (?:ist|est|es|é|è) (?:dein|ihr|votre|ton|tu|su|seu|il tuo)"
    r"|\s?(?:さん|様|さま|先生|님|씨|女士|先生))",
    re.IGNORECASE,
)
_HONORED = re.compile(r"\s?(?:さん|様|さま|님)")
_I_AM = re.compile(r"\b(?:I am|I'm|this is|it's)\s+$", re.IGNORECASE)
_VERB_JOINT = re.compile(r"(?:\w\s*[\"'`*_]*|[は是])$")
_WORD = r"(?:[^\W\d_][\w'’.-]*)"
_PARTICLES = {
    *("van", "von", "de", "da", "del", "di", "der", "den", "la", "le", "bin", "al", "el", "dos"),
    *("du", "af", "y", "ter", "ten", "zu", "ibn"),
}
_VALUE_END = re.compile(
    r"[,;|<>\"`()\[\]{}/\n·»“”」』:：。、，]|さん|様|です|\.(?=\s|$)|\s[-–—]\s|\s(?:since|from|at|seit|depuis)\s"
)
_ID_LIKE = re.compile(r"(?=[\w.#-]*\d)[\w#][\w.#-]*")
_MOST_WORDS, _MOST_CHARS = 4, 40


def named(lead: str, rest: str) -> bool:
    """Tell whether what follows a lead on a line is the name of whoever is served, by its label."""
    value = _value(rest)
    if _BY_ID.search(lead):
        return bool(value)
    if found := _BY_NOUN.search(lead):
        one_word = value.isalpha() and not _VERB_JOINT.search(found[0])
        return is_name(value) or one_word or _ID_LIKE.fullmatch(value) is not None
    return _BY_KEY.match(lead) is not None and is_name(value)


def spoken_of(lead: str, rest: str) -> bool:
    """Tell whether a sentence speaks of whoever is served by name at the place."""
    run = re.match(rf"{_WORD}(?: {_WORD}){{0,3}}", rest)
    first = rest.split(maxsplit=1)[0] if rest.split() else ""
    if run is None or not is_name(first.strip("\"'`*.,;:!?").removesuffix("'s").removesuffix("’s")):
        return False
    if _PHRASE.search(lead):
        return True
    size = 0
    for word in run[0].split(" "):
        bare = re.sub(r"['’]s?$", "", word)
        if not is_name(bare):
            break
        size += len(bare) + (size > 0)
        if bare != word:
            break
    opens = not lead.strip("\"'`*-• \t") or _HONORED.match(rest, size) or _I_AM.search(lead)
    return size > 0 and bool(opens) and _BEHIND.match(rest, size) is not None


def _value(rest: str) -> str:
    """Give what stands behind a label, up to where something else begins."""
    end = _VALUE_END.search(rest)
    return (rest[: end.start()] if end else rest).strip(" \t\r'’*_.!")


def is_name(text: str) -> bool:
    """Tell whether a text could be the name of a person: see rule 2."""
    words = text.split()
    if not words or len(words) > _MOST_WORDS or len(text) > _MOST_CHARS:
        return False
    if any(character.isdigit() for character in text):
        return False
    plain = [word.strip("'’.-") for word in words]
    if not all(re.fullmatch(_WORD, word) for word in plain if word):
        return False
    has_case = [word for word in plain if word and word.lower() != word.upper()]
    if not has_case:
        return all(plain)
    return bool(has_case[0][:1].isupper()) and all(
        word[0].isupper() or word.lower() in _PARTICLES for word in has_case
    )
