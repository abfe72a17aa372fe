"""The conversation of the demo: a traveller and a travel assistant, over three sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting of the conversation.

    Attributes:
        thread_id: The thread that it is stored as.
        date: The day it took place, ISO 8601.
        turns: What was said, as (role, text) pairs.
    """

    thread_id: str
    date: str
    turns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A memory of the demo.

    Attributes:
        id: Its id.
        kind: Its type.
        text: What it says.
        link: The kind of link to an earlier memory, and that memory's id; or None.
    """

    id: str
    kind: str
    text: str
    link: tuple[str, str] | None = field(default=None)


USER: Final = "mia"
AGENT: Final = "travel-desk"

SESSIONS: Final = (
    Session(
        "lisbon-plans",
        "2026-03-02",
        (
            ("user", "Hi! I want to spend ten days in Portugal in May, with my daughter Nora, who is seven."),
            ("assistant", "Lovely. Do you prefer one base, or would you rather move around?"),
            ("user", "Two bases at most. Nora gets carsick on winding roads, so trains wherever possible."),
            (
                "assistant",
                "Then Lisbon and Porto fit well: the fast train between them takes about three hours.",
            ),
            ("user", "Perfect. One thing: I am allergic to shellfish, badly. I carry an EpiPen."),
            ("assistant", "Noted, I will only suggest places where that is safe. What about the budget?"),
            ("user", "Around 2,400 euros for the two of us, flights not included."),
            ("assistant", "That works for May. A quiet street or the middle of things?"),
            ("user", "Quiet, please. And a kitchen, Nora eats porridge at six in the morning."),
            ("assistant", "I found an apartment in Campo de Ourique, on the 28 tram line, with a kitchen."),
            ("user", "Book it! The tram alone will make Nora's year, she draws trams all day long."),
        ),
    ),
    Session(
        "porto-change",
        "2026-04-11",
        (
            (
                "user",
                "Change of plan: my brother Teo is getting married in Porto on 16 May, so we go north first.",
            ),
            ("assistant", "Congratulations to him! Then Porto from the 13th and Lisbon from the 18th?"),
            ("user", "Yes. The party is in a wine cellar in Vila Nova de Gaia."),
            ("assistant", "I will look for something within walking distance of the lower bridge."),
            ("user", "Great. Nora is the flower girl and needs a pair of white shoes, size 30."),
            (
                "assistant",
                "There are two children's shoe shops on Rua de Santa Catarina; I will save them for you.",
            ),
            (
                "user",
                "By the way, I gave up coffee in March, so leave the café tour out. Tea rooms are welcome.",
            ),
            (
                "assistant",
                "Tea it is: there is a tea house in the garden at Serralves, and Nora can run there.",
            ),
            ("user", "Can the train tickets be in the quiet coach?"),
            ("assistant", "Yes, two seats at a table in the quiet coach, 18 May at 9:30."),
        ),
    ),
    Session(
        "after-the-trip",
        "2026-05-27",
        (
            ("user", "We are back. The wedding was wonderful, and Nora danced until midnight."),
            ("assistant", "I am so glad! How was the apartment in Lisbon?"),
            ("user", "Quiet as promised, but the oven was broken. The landlady brought us pastries instead."),
            ("assistant", "I will note the oven. Anything for the next trip?"),
            ("user", "Somewhere cooler. I burn in ten minutes, and Nora now wants to see puffins."),
            ("assistant", "Puffins nest in the Westman Islands and on Skomer until late July."),
            ("user", "Skomer sounds right, Teo's wife has family in Wales. Let us talk in June."),
            ("assistant", "I will remind you in June to look at Skomer boats; they sell out early."),
        ),
    ),
)

FACTS: Final = (
    Fact("shellfish", "fact", "Mia is severely allergic to shellfish and carries an EpiPen"),
    Fact("trains", "preference", "Mia prefers trains, because Nora gets carsick on winding roads"),
    Fact("coffee", "preference", "Mia likes to discover cafés for their coffee"),
    Fact("tea", "preference", "Mia has given up coffee and prefers tea rooms", ("supersedes", "coffee")),
    Fact("quiet", "preference", "Mia wants a quiet street and a kitchen", ("supports", "trains")),
    Fact("next-trip", "memory", "Mia wants a cooler place with puffins for the next trip, maybe Skomer"),
)

QUESTIONS: Final = (
    "What must Mia not eat?",
    "Why did they go to Porto first?",
    "What does Nora like to draw?",
    "Where can we see puffins?",
    "What was wrong with the apartment?",
)

LINKED_QUESTION: Final = "Does Mia drink coffee?"
