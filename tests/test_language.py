"""Words, sentences and refusals of Korean and English, and what other scripts get."""

import unicodedata
from pathlib import Path

import pytest

from rageval_kit import load_dataset
from rageval_kit.judgements import unanswerable
from rageval_kit.language import (
    LANGUAGES,
    content_words,
    equal_text_key,
    kiwi_words,
    language_of,
    looks_like_refusal,
    normalised,
    normalised_tokens,
    occurs,
    script_of,
    split_sentences,
    without_particles,
)

CAMPUS = Path(__file__).parent.parent / "data" / "campus"


# ---------------------------------------------------------------- particles and endings


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("데이터베이스에서", "데이터베이스"),
        ("공간은", "공간"),
        ("공간을", "공간"),
        ("공간이", "공간"),
        ("공간의", "공간"),
        ("공간으로", "공간"),
        ("학생에게", "학생"),
        ("정리하고", "정리"),
        ("정리하는", "정리"),
        ("정리하여", "정리"),
        ("정리합니다", "정리"),
        ("정리됩니다", "정리"),
        ("정리되어", "정리"),
        ("정리하므로", "정리"),
        ("기본적으로", "기본"),
        ("목적으로", "목적"),
        ("과목이므로", "과목"),
        ("학교에서는", "학교"),
        ("신청까지만", "신청"),
        ("학점까지이다", "학점"),
        ("예외로서", "예외"),
        ("시스템이다", "시스템"),
        ("절차입니다", "절차"),
        ("영수증이어야", "영수증"),
    ],
)
def test_a_particle_or_ending_is_removed(word, stem):
    assert without_particles(word) == stem


@pytest.mark.parametrize("word", ["나는", "제도", "강의", "휴가", "정한다", "받으며"])
def test_two_syllables_stay(word):
    assert without_particles(word) == word


@pytest.mark.parametrize(
    ("word", "noun"), [("앱에서", "앱"), ("책으로", "책"), ("돈까지", "돈"), ("앱이다", "앱")]
)
def test_one_syllable_stays_where_nouns_alone_take_the_particle(word, noun):
    assert without_particles(word) == noun


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("강의평가", "강의평가"),
        ("강의평가를", "강의평가"),
        ("학교가", "학교"),
        ("오토바이는", "오토바이"),
        ("학생과", "학생"),
        ("학교와", "학교"),
    ],
)
def test_a_particle_is_removed_only_where_the_syllable_before_takes_it(word, stem):
    assert without_particles(word) == stem


@pytest.mark.parametrize("word", ["universität", "größer", "библиотека", "stopped", "東京"])
def test_words_without_particles_stay(word):
    assert without_particles(word) == word


# ---------------------------------------------------------------- content words


def test_hangul_counts_from_two_syllables_on():
    assert content_words("두 행 공간") == ["공간"]


def test_one_syllable_counts_where_a_particle_shows_a_noun():
    assert content_words("앱에서 신청한다") == ["앱", "신청"]


def test_one_syllable_of_time_or_place_does_not_count():
    assert content_words("그 전에 안에서 때까지") == []


def test_other_words_count_from_three_letters_on():
    assert content_words("OT LMS 42 2026 3.5") == ["lms", "2026", "3.5"]


def test_a_name_with_digits_is_one_word():
    assert content_words("GPT4와 hb_056, _see_ 16GB") == ["gpt4", "hb_056", "see"]


def test_a_word_counts_once():
    assert content_words("공간은 공간을 공간에서 공간") == ["공간"]


@pytest.mark.parametrize(
    "text",
    [
        "그리고 이것은 또한 있다",
        "있습니다 있고 있으며 있으므로 있지만",
        "없습니다 없고 없으면 않는다 않으면 않고",
        "RAG에서는 하며 까지",
        "작업입니다 명령이다 것",
        "The and is of which they otherwise",
    ],
)
def test_stop_words_do_not_count(text):
    assert [word for word in content_words(text) if word != "rag"] == []


@pytest.mark.parametrize("word", ["작업입니다", "작업이다", "작업이에요", "명령입니다"])
def test_a_predicate_that_stands_for_its_clause_does_not_count(word):
    assert content_words(f"정리 {word}") == ["정리"]


@pytest.mark.parametrize("ending", ["입니다", "이다", "이에요", "이었습니다", "인가요"])
def test_the_noun_of_a_copula_counts(ending):
    assert content_words(f"담당 부서는 학사지원팀{ending}.") == ["담당", "부서", "학사지원팀"]
    assert content_words(f"절차{ending}") == ["절차"]


def test_to_abolish_is_not_a_form_of_there_is_not():
    assert content_words("제도를 없앤다") == ["제도", "없앤다"]


@pytest.mark.parametrize("unit", ["원", "원을", "원이므로", "원이다"])
def test_the_unit_of_a_number_is_no_word(unit):
    assert content_words(f"수수료 30,000{unit}") == ["수수료", "30000"]


def test_a_longer_word_behind_a_number_is_one():
    assert content_words("3학년은 2개월까지") == ["학년", "개월"]


@pytest.mark.parametrize("word", ["plus", "campus", "less", "status"])
def test_an_s_that_is_no_plural_stays(word):
    assert content_words(word) == [word]


def test_words_are_compared_in_one_unicode_form():
    decomposed = unicodedata.normalize("NFD", "공간을 정리한다, bibliothèque")
    assert content_words(decomposed) == ["공간", "정리", "bibliothèque"]


# ---------------------------------------------------------------- other languages


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Die Größe der Universität beträgt", ["die", "größe", "der", "universität", "beträgt"]),
        ("La bibliothèque où l'élève étudie", ["bibliothèque", "élève", "étudie"]),
        ("Библиотека открыта", ["библиотека", "открыта"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مُدَرِّس جديد", ["مُدَرِّس", "جديد"]),
        ("東京大学の図書館", ["東京", "京大", "大学", "学の", "の図", "図書", "書館"]),
        ("大学RAG系统2026年", ["大学", "rag", "系统", "2026"]),
        ("ห้องสมุด", ["ห้", "้อ", "อง", "งส", "สม", "มุ", "ุด"]),
    ],
)
def test_words_of_other_scripts_stay_whole_or_are_pairs_of_characters(text, words):
    assert content_words(text) == words


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("도서관은 어디에 있나요?", "Hangul"),
        ("VACUUM 명령이 뭐야", "Hangul"),
        ("大學 도서관", "Hangul"),
        ("Where is the library?", "Latin"),
        ("The fee is 30,000 won (원), to be paid before the term begins.", "Latin"),
        ("Größe", "Latin"),
        ("図書館はどこですか", "Kana"),
        ("图书馆在哪里", "Han"),
        ("RAG是什么", "Han"),
        ("Где библиотека", "Cyrillic"),
        ("2026 - 3.5 %", ""),
        ("", ""),
    ],
)
def test_script_of(text, script):
    assert script_of(text) == script


@pytest.mark.parametrize(
    ("text", "number"), [("30,000", "30000"), ("1,234,567", "1234567"), ("1,2345", "1,2345")]
)
def test_only_the_commas_of_thousands_go(text, number):
    assert normalised(text) == number


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("도서관은 어디에 있나요?", "ko"),
        ("Library hours 2026", "en"),
        ("Die Bibliothek " * 30, None),
        ("The library is open. " * 30, "en"),
        (
            "Library opening hours: see the front page of student services. " * 6,
            "en",
        ),  # a fifth are stop words
        ("Bibliothek Universität Bücher Ausweis Gebühr Semester", "en"),  # too short to tell
        ("図書館はどこですか", None),
        ("2026", "ko"),
    ],
)
def test_language_of(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_document_of_campus_is_in_its_language(language):
    docs, all_qa = load_dataset(CAMPUS / language)
    for text in [doc["content"] for doc in docs] + [qa["question"] for qa in all_qa]:
        assert script_of(text) == LANGUAGES[language].script
    assert {language_of(doc["content"]) for doc in docs} == {language}


# ---------------------------------------------------------------- does a word occur


def test_an_english_word_occurs_at_the_start_of_a_word_only():
    assert occurs("able", "ably able")
    assert not occurs("able", "table")


@pytest.mark.parametrize(
    ("stem", "text", "found"),
    [
        ("공간", "저장공간을", True),
        ("vacuum", "저장VACUUM은", True),
        ("500", "1,500원", False),
        ("500", "5000", False),
        ("3.5", "3.5절", True),
        ("größe", "Körpergröße", False),
        ("größ", "Größe", True),
        ("図書", "大学図書館", True),
        ("앱", "앱을 연다", True),
        ("앱", "새 앱", True),
        ("앱", "앱스토어", False),
        ("책", "책임자", False),
    ],
)
def test_occurs(stem, text, found):
    assert occurs(stem, text) is found


# ---------------------------------------------------------------- tokens and equal texts


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The fee is 30,000 won.", ["fee", "is", "30000", "won"]),
        ("1,234,567 of 3.5 and 1, 2", ["1234567", "of", "3.5", "and", "1", "2"]),
        ("GPT4-turbo, 16GB", ["gpt4", "turbo", "16", "gb"]),
        ("naïve Ωmega", ["naïve", "ωmega"]),
        ("학교에서는 3일까지", ["학교", "3", "일"]),
        ("東京", ["東京"]),
    ],
)
def test_tokens(text, tokens):
    assert normalised_tokens(text) == tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＡＢＣ　１２３", "ABC 123"),
        ("a\n\n b\t", " a b"),
        ("café", "cafe\u0301"),
        ("공간", unicodedata.normalize("NFD", "공간")),
    ],
)
def test_texts_are_equal_but_for_their_unicode_form_and_white_space(one, other):
    assert equal_text_key(one) == equal_text_key(other)


@pytest.mark.parametrize(("one", "other"), [("RAG", "rag"), ("a b", "ab"), ("a.", "a")])
def test_texts_with_other_letters_are_not_equal(one, other):
    assert equal_text_key(one) != equal_text_key(other)


# ---------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rains. Does it? It does!", ["It rains.", "Does it?", "It does!"]),
        ("비가 온다. 우산을 쓴다.", ["비가 온다.", "우산을 쓴다."]),
        ("비가 온다.\n\n우산을 쓴다.", ["비가 온다.", "우산을 쓴다."]),
        ("雨です。本当？はい！", ["雨です。", "本当？", "はい！"]),
        ("「雨です。」と言った。終わり", ["「雨です。」と言った。", "終わり"]),
        ("Ask e.g. the office. It helps.", ["Ask e.g. the office.", "It helps."]),
        ("Dr. Kim and Mrs. Lee teach.", ["Dr. Kim and Mrs. Lee teach."]),
        ("It opens at 9 a.m. on Monday.", ["It opens at 9 a.m. on Monday."]),
        ("It closes at 5 p.m. The café stays.", ["It closes at 5 p.m.", "The café stays."]),
        (
            "Go to Room No. 5. Is it free? No. Wait.",
            ["Go to Room No. 5.", "Is it free?", "No.", "Wait."],
        ),
        ("It is made in the U.S. by hand.", ["It is made in the U.S. by hand."]),
        ("It costs 3.50 or 4.5.", ["It costs 3.50 or 4.5."]),
        ("3.5절을 본다. 끝이다.", ["3.5절을 본다.", "끝이다."]),
        ("오후 3 p.m. 이후에 온다.", ["오후 3 p.m. 이후에 온다."]),
        ("See e.g. Dr. Kim at 3 p.m. in No. 5.", ["See e.g. Dr. Kim at 3 p.m. in No. 5."]),
        ("  One without an end ", ["One without an end"]),
        ("", []),
    ],
)
def test_sentences(text, sentences):
    assert split_sentences(text) == sentences


@pytest.mark.parametrize("text", [None, 3, ["a text"], {"content": "a text"}])
@pytest.mark.parametrize(
    "function",
    [
        content_words,
        normalised_tokens,
        split_sentences,
        looks_like_refusal,
        equal_text_key,
        script_of,
    ],
)
def test_what_is_no_text_is_refused_in_words(function, text):
    with pytest.raises(TypeError, match="text must be a text, found"):
        function(text)


# ---------------------------------------------------------------- refusals

# Written before the screen was fitted to them.
REFUSALS = {
    "ko": [
        "자료에 없습니다",
        "편람에 없는 내용입니다.",
        "답변할 수 없습니다.",
        "정보를 찾지 못했습니다.",
        "확인되지 않습니다.",
        "편람에는 주차 요금이 나와 있지 않습니다.",
        "문서에서 찾을 수 없습니다.",
        "문서에 언급되지 않았다.",
        "주어진 문서만으로는 알 수 없다.",
        "관련 정보가 없으므로 답할 수 없습니다.",
        "잘 모르겠습니다.",
        "제공된 문서에는 기숙사 통금 시간에 대한 정보가 포함되어 있지 않습니다.",
        "자료만으로는 확인하기 어렵습니다.",
        "죄송하지만 해당 내용은 안내되어 있지 않습니다.",
        "편람에서 관련 규정을 찾을 수 없었습니다.",
        "이 질문에 대한 답은 주어진 문서에 없습니다.",
        "주차 요금에 대해서는 나와 있지 않아요.",
        "문서에 그런 내용은 없어요.",
        "답을 드릴 수 없습니다. 자료에 관련 내용이 없기 때문입니다.",
        "장학금 금액은 명시되어 있지 않습니다.",
        "관련 정보를 확인할 수 없습니다.",
        "셔틀버스 시간표는 자료에서 다루지 않습니다.",
        "질문하신 내용은 편람에 실려 있지 않습니다.",
        "무료 주차에 관한 언급은 없습니다.",
        "잘 모르겠어요.",
        "해당 정보는 제공되지 않았습니다.",
        "문서에는 수영장에 대한 설명이 없네요.",
        "그 부분은 문서에서 확인되지 않습니다.",
        "정확한 금액은 알 수 없습니다.",
        "제시된 문맥에서는 답을 찾지 못했습니다.",
        "헬스장 이용료는 기재되어 있지 않으므로 답변드리기 어렵습니다.",
        "문서에 해당 질문에 대한 정보가 제공되어 있지 않습니다.",
        "저는 그 답을 모릅니다.",
        "주어진 정보로는 판단할 수 없습니다.",
        "셔틀버스 노선은 편람에 적혀 있지 않다.",
        "그에 관한 규정은 편람에서 찾아볼 수 없습니다.",
        "제가 가진 문서에는 나오지 않는 내용입니다.",
        "안타깝게도 문서에서 답을 확인하지 못했습니다.",
        "관련 자료가 부족하여 답변이 어렵습니다.",
        "편람은 이에 대해 아무것도 말하지 않는다.",
        "수업료 외의 비용은 문서에 명확히 나와 있지 않습니다.",
    ],
    "en": [
        "Not mentioned.",
        "The context doesn't include this.",
        "Unfortunately, the documents do not cover parking.",
        "The handbook does not say what parking costs.",
        "The documents don’t mention it.",
        "The fee is not specified.",
        "The answer is not in the documents.",
        "This is not given in the documents.",
        "There is not enough information.",
        "I cannot find it.",
        "The manual does not say.",
        "I DO NOT KNOW",
        "I'm sorry, but the provided documents do not contain information about a curfew.",
        "The text doesn't mention any deadline.",
        "There is no mention of a parking fee in the handbook.",
        "I couldn't find any information on this in the documents.",
        "This information is not provided.",
        "The answer cannot be determined from the given context.",
        "Based on the documents, I am unable to answer this question.",
        "Nothing in the handbook covers bicycle parking.",
        "The handbook is silent on this point.",
        "The sources provide no details about the cost.",
        "It is not clear from the documents who pays.",
        "The documents only describe the library and say nothing about the gym.",
        "No relevant information was found.",
        "Sorry, I don't have enough information to answer that.",
        "The exact amount isn't given in the passage.",
        "The retrieved passages do not address visa extensions.",
        "I can't answer this from the documents provided.",
        "We do not know, since the handbook does not specify it.",
        "That isn't covered by the handbook.",
        "Unfortunately the context does not include the fee for guests.",
        "The passages don't provide an answer.",
        "There isn't any information about guest parking in these documents.",
        "I was unable to find this in the handbook.",
        "The question can't be answered with the given sources.",
        "The documents make no reference to a late fee.",
        "It isn't stated how long the loan lasts.",
        "Insufficient information.",
        "I have no information about that.",
        "The context provided doesn't discuss refunds.",
        "None of the documents says how much it costs.",
    ],
}
FACTS = {
    "ko": [
        "환불 규정이 없다.",
        "식사 제공에 관한 규정은 없다.",
        "졸업 학점 제한 내용은 없다",
        "성분을 알 수 없는 물질은 먼저 분석한다.",
        "학생은 수업에 나오지 않아야 한다.",
        "추가 정보 없이 신청할 수 있다.",
        "길을 찾을 수 없으면 전화한다.",
        "휴학 기간에는 도서 대출이 되지 않는다.",
        "등록금을 내지 않은 학생은 수강 신청을 할 수 없습니다.",
        "신청서에 연락처가 없으면 접수되지 않습니다.",
        "재수강 횟수 제한 규정은 없다.",
        "학생증이 없어도 도서관에 들어갈 수 있습니다.",
        "답안에 이름이 적혀 있지 않으면 0점으로 처리한다.",
        "취소 기한이 지나면 환불받을 수 없습니다.",
        "비밀번호를 모르겠으면 정보전산원에 문의한다.",
        "개인 정보는 외부에 제공되지 않습니다.",
        "지도 교수를 찾지 못한 학생은 학과 사무실에 문의해야 합니다.",
        "추가 비용은 없습니다.",
        "성적표에 기재되지 않은 과목은 졸업 학점에 포함되지 않습니다.",
        "합격 여부는 전화로 알려 주지 않습니다.",
        "결과를 미리 알 수 없으므로 두 지망까지 적는 것이 좋습니다.",
        "이 과목은 선수 과목이 없습니다.",
        "편람에 없는 교과목은 학과장 승인을 받아 들을 수 있다.",
        "출석부에 없는 학생은 담당 교수에게 문의한다.",
        "방학 중에는 셔틀버스를 운행하지 않습니다.",
        "시험 문제는 수업에서 다루지 않은 내용도 포함할 수 있다.",
        "장학금 신청 자격이 확인되지 않은 학생은 제외된다.",
        "신분증이 없으면 시험장에 들어갈 수 없다.",
        "비회원은 자료를 찾을 수 없게 되어 있다.",
        "이 제도에는 나이 제한이 없습니다.",
        "사용 내역은 학생 본인에게만 제공됩니다.",
        "강의 계획서에 나와 있지 않은 교재는 사지 않아도 된다.",
        "분실물의 주인을 알 수 없을 때에는 경비실에 맡긴다.",
        "기숙사에는 취사 시설이 없습니다.",
        "마감 후에는 답변을 수정할 수 없습니다.",
        "통장 사본을 내지 않으면 환급되지 않습니다.",
        "학과 사무실은 토요일에 문의를 받지 않는다.",
    ],
    "en": [
        "We cannot answer calls after 6 pm.",
        "The function returns None if the key is not in the documents.",
        "The parking rules are not specified per building but per zone.",
        "I don't know is an allowed answer on the form.",
        "Places are not given in an extra semester.",
        "If you cannot find your card, call the office.",
        "If you don't know your number, ask.",
        "A request that does not state a reason is rejected.",
        "Students who do not register in time cannot take the exam.",
        "No information is passed to third parties.",
        "The card is not valid if the photo is not included.",
        "Late fees are not covered by the scholarship.",
        "If you do not find your name on the list, contact the office.",
        "The office does not answer questions by phone.",
        "Grades are not given for courses taken pass/fail.",
        "Applications that do not mention a supervisor are returned.",
        "The deposit is not included in the fee.",
        "You cannot find a place without a permit during term.",
        "The exam does not cover chapter 7.",
        "There is no deadline for the application.",
        "The fee does not include meals.",
        "Students do not need to state a reason.",
        "The handbook says that visitors do not pay.",
        "A student who does not know the password asks the IT Service Centre.",
        "Meals are not provided during the vacation.",
        "The contract does not specify a minimum stay, so you can leave at any time.",
        "The result cannot be determined before the committee meets.",
        "There is no information desk on Sundays.",
        "Books that are not found on the shelf can be reserved.",
        "The library does not provide laptops to visitors.",
        "Students cannot answer by e-mail.",
        "There is no curfew.",
        "The dean cannot say before May who is admitted.",
        "The form does not need to be signed.",
        "Information about grades is not given by telephone.",
        "You do not have to mention your age.",
        "The policy does not cover bicycles left outside.",
        "It is not known in advance which questions come up.",
    ],
}
# Never used to fit it.
UNSEEN_REFUSALS = {
    "ko": [
        "현재 문서에서 관련 정보를 찾기 어렵습니다.",
        "질문과 관련된 문서를 찾을 수 없습니다.",
        "정보 없음",
        "편람에 따로 정해진 내용이 없어 안내해 드릴 수 없습니다.",
        "기숙사 점호 시간은 제공된 자료에 포함되어 있지 않습니다.",
        "죄송하지만 이 질문에는 답할 수 없어요.",
        "본문에는 환불 기한이 명확히 제시되어 있지 않습니다.",
        "자료에는 주차 요금에 대한 구체적인 금액이 없습니다.",
        "해당 질문의 답은 확인할 수 없었습니다.",
        "교내 은행 위치는 편람에서 언급하지 않고 있습니다.",
    ],
    "en": [
        "I'm not sure; the text doesn't go into that.",
        "We are not given enough information.",
        "The answer is unknown based on the passages.",
        "Neither document mentions a dress code.",
        "The excerpt gives no indication of the opening hours.",
        "I don't see anything about laundry in the sources.",
        "The fee for guests is not listed in the handbook.",
        "It's impossible to tell from the context.",
        "Your question is outside the scope of these documents.",
        "No answer found.",
    ],
}
UNSEEN_FACTS = {
    "ko": [
        "증빙 서류가 부족하면 신청이 반려된다.",
        "도서관에 없는 책은 상호대차로 신청할 수 있다.",
        "보호자 연락처는 학생 동의 없이 제공할 수 없습니다.",
        "문서 제출 기한에는 예외가 없다.",
        "재발급 전의 카드로는 문을 열 수 없습니다.",
        "성적 이의 신청 기간이 지나면 점수를 확인할 수 없습니다.",
        "지정 좌석이 없으므로 먼저 온 순서대로 앉는다.",
        "출처를 밝히지 않은 인용은 표절로 본다.",
        "면접 결과는 개별적으로 안내하지 않습니다.",
        "계약서에 명시되지 않은 비용은 낼 필요가 없다.",
    ],
    "en": [
        "The lecture is not recorded.",
        "You cannot tell the two cards apart from a distance.",
        "Applicants who give no reason are asked to write again.",
        "Nothing in the room may be moved.",
        "The source of the funding must be stated.",
        "There is no limit on how many books you borrow.",
        "Unlisted visitors are not admitted.",
        "The office has no telephone number.",
        "It is impossible to change the room after March.",
        "The text must not exceed 500 words.",
    ],
}


def precision_and_recall(refusals, facts):
    """Precision and recall of the screen on refusals and on facts."""
    caught = sum(map(looks_like_refusal, refusals))
    wrongly = sum(map(looks_like_refusal, facts))
    return caught / (caught + wrongly), caught / len(refusals)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_screen_tells_the_sentences_apart_that_it_was_fitted_to(language):
    assert precision_and_recall(REFUSALS[language], FACTS[language]) == (1, 1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_screen_misses_three_of_ten_unseen_refusals_and_takes_no_fact_for_one(language):
    found = precision_and_recall(UNSEEN_REFUSALS[language], UNSEEN_FACTS[language])
    assert found == (1, 0.7)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_screen_agrees_with_campus_on_every_ground_truth(language):
    _, all_qa = load_dataset(CAMPUS / language)
    screened = [qa["query_id"] for qa in all_qa if looks_like_refusal(qa["ground_truth"])]
    assert screened == [qa["query_id"] for qa in all_qa if unanswerable(qa)]
    assert len(screened) == 28


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_screen_takes_no_sentence_of_the_handbook_for_a_refusal(language):
    docs, _ = load_dataset(CAMPUS / language)
    sentences = [sentence for doc in docs for sentence in split_sentences(doc["content"])]
    assert len(sentences) > 2_000
    assert [sentence for sentence in sentences if looks_like_refusal(sentence)] == []


def test_a_refusal_at_the_end_of_a_long_sentence_is_one():
    long = "수강 신청 기간과 방법에 관하여 여러 사람이 물었지만, " * 20
    assert looks_like_refusal(f"{long}그 내용은 문서에 나와 있지 않습니다.")


def test_a_reason_within_an_answer_is_no_refusal():
    answer = "결과는 미리 알 수 없으므로 두 지망까지 적는다."
    assert not looks_like_refusal(answer)
    assert looks_like_refusal("결과는 미리 알 수 없다.")


def test_a_refusal_within_an_answer_is_one():
    assert looks_like_refusal("기간은 3월이다. 수수료는 편람에 나와 있지 않다.")


def test_a_refusal_may_be_broken_over_lines_or_decomposed():
    assert looks_like_refusal("The handbook does\nnot say.")
    assert looks_like_refusal(unicodedata.normalize("NFD", "편람에 나와 있지 않다"))


# ---------------------------------------------------------------- Kiwi


@pytest.fixture(scope="module")
def kiwi():
    pytest.importorskip("kiwipiepy")
    return kiwi_words


def test_kiwi_finds_nouns_and_verbs(kiwi):
    assert kiwi("학교에서는 저장 공간을 정리했습니다.") == ["학교", "저장", "공간", "정리"]


def test_a_stem_in_either_unicode_form_occurs():
    for stem in ("도서관", "앱", "café"):
        decomposed = unicodedata.normalize("NFD", stem)
        assert occurs(decomposed, f"{stem}을") == occurs(stem, f"{stem}을")
