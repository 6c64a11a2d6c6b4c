"""The Korean of what the kit says: the English text in the code, and what it is in Korean.

A value in braces stands in both. Its last sound is not known here, so no particle that depends on
it (이 or 가, 을 or 를) follows one. Findings and cures are sentences in 합니다체, cells are
phrases.
"""

KOREAN_COUNTS = {
    "query": "질의 {}개",
    "document": "문서 {}개",
    "question": "질문 {}개",
    "answer": "답 {}개",
    "hit": "{}건",
    "file": "파일 {}개",
    "relevant_doc_id": "relevant_doc_id {}개",
    "metric": "지표 {}개",
    "cutoff": "절단 순위 {}개",
    "system": "시스템 {}개",
    "combination": "조합 {}개",
    "error": "오류 {}건",
    "warning": "경고 {}건",
    "more error": "오류 {}건",
    "more warning": "경고 {}건",
    "other": "다른 시트 {}개",
    "text": "글 {}개",
    "request": "요청 {}회",
    "reply": "응답 {}개",
    "argument": "인자 {}개",
}

KOREAN = {
    # ------------------------ verdicts of a comparison
    "baseline": "기준",
    "better": "더 낫다",
    "worse": "더 못하다",
    "cannot tell; about {needed:,} queries could (at least {fewest:,})": (
        "판단 불가; 질의 약 {needed:,}개면 판단 가능(적어도 {fewest:,}개)"
    ),
    "cannot tell: no difference was seen": "판단 불가: 차이가 없음",
    "cannot tell: next to no difference was seen": "판단 불가: 차이가 거의 없음",
    "cannot tell: the baseline failed": "판단 불가: 기준 시스템이 실패함",
    "cannot tell: not better on queries held out": (
        "판단 불가: 따로 떼어 둔 질의에서는 더 낫지 않음"
    ),
    "failed": "실패",
    # ------------------------ an experiment and its report
    "Experiment of {systems} over {queries}": "{systems}, {queries}의 실험",
    "grid of {systems}: {axes}": "{systems}의 격자: {axes}",
    "best by {metric}: {best} ({mean:.3f})": "{metric} 기준 최고: {best} ({mean:.3f})",
    "{n} failed": "실패 {n}개",
    "{combinations} left out": "제외한 {combinations}",
    "system": "시스템",
    "difference": "차이",
    "p after Holm": "p(Holm 보정)",
    "verdict": "판정",
    "Best of {n} by {metric}: {best}": "시스템 {n}개 가운데 {metric} 기준 최고: {best}",
    "; {held_out:.3f} on queries held out, {optimism:.3f} less than on those that chose": (
        "; 따로 떼어 둔 질의에서는 {held_out:.3f}, 고를 때 쓴 질의에서보다 {optimism:.3f} 낮음"
    ),
    "Difference to {baseline}; {queries}, 95 % intervals; ≈: not told from the best.": (
        "차이의 기준: {baseline}; {queries}, 95 % 신뢰 구간; ≈: 최고와 구별할 수 없음."
    ),
    "Left out: {combinations}.": "제외: {combinations}.",
    # ------------------------ a diagnosis
    "ok": "정상",
    "fine": "양호",
    "problem": "문제",
    "not measured": "측정하지 않음",
    "cannot tell: {why}": "판단 불가: {why}",
    "cannot tell: Recall@10 is not known": "판단 불가: Recall@10을 알 수 없음",
    "cannot tell: Recall@10 is {recall:.2f}": "판단 불가: Recall@10 = {recall:.2f}",
    "cannot tell: no threshold": "판단 불가: 임계값이 없음",
    "an F1 means nothing by itself: compare answers to the same questions": (
        "F1 값 하나로는 알 수 없음: 같은 질문에 대한 다른 답과 비교할 것"
    ),
    "judge_answers, or thresholds={'accuracy': what others reach}": (
        "judge_answers, 또는 thresholds={'accuracy': 다른 답이 얻은 값}"
    ),
    "the results have depth {depth}: search with k=20": (
        "검색 결과의 깊이가 {depth}에 그침, k=20으로 검색할 것"
    ),
    "no query has a value": "값이 있는 질의가 없음",
    "no answers were given": "답을 주지 않음",
    "no answer has content words": "내용어가 있는 답이 없음",
    "all_qa has no ground_truth": "all_qa에 ground_truth가 없음",
    "there is no answer": "답이 없음",
    "the candidate pool misses documents": "후보에 정답 문서가 빠져 있음",
    "another embedding model, another chunking, hybrid dense + sparse search, query rewriting": (
        "다른 임베딩 모델, 다른 청크 분할, 하이브리드 검색(밀집 + 희소), 질의 다시 쓰기"
    ),
    "documents are found but ranked too low": "정답 문서를 찾았으나 순위가 너무 낮음",
    "a cross-encoder reranker": "크로스 인코더 재순위화",
    "the first relevant document comes late": "첫 정답 문서가 늦게 나옴",
    "reranker scores, metadata boosts": "재순위화 점수, 메타데이터 가중",
    "total failures: list them with failures(...) and look for a pattern": (
        "완전한 실패: failures(...)로 나열하여 공통점을 찾을 것"
    ),
    "query expansion, more data, the model's token limit": "질의 확장, 자료 보강, 모델의 토큰 한도",
    "generation, not retrieval, where Recall@10 is high": (
        "Recall@10이 높다면 검색이 아니라 생성의 문제"
    ),
    "prompt, context format, another model": "프롬프트, 문맥 형식, 다른 모델",
    "answers do not stand on their sources": "답이 근거 문서에 바탕을 두지 않음",
    "answers are wrong, and documents were missing: fix retrieval first": (
        "답이 틀렸고 정답 문서도 빠짐: 검색부터 고칠 것"
    ),
    # ------------------------ the bands of faithfulness
    "faithful": "근거에 충실",
    "partly from elsewhere": "일부는 근거 밖",
    "probably not grounded": "근거가 없는 듯함",
    "empty answer": "빈 답",
    "refusal": "응답 거부",
    "no content words": "내용어 없음",
    # ------------------------ a caption
    "Macro average over {queries}": "{queries}의 질의 평균(macro)",
    "Pooled average over {queries}": "{queries}의 통합 평균(pooled)",
    "{queries} evaluated": "{queries} 평가",
    "{n:,} {treated} (no relevant document)": "정답 문서가 없는 질의 {n:,}개: {treated}",
    "excluded": "제외",
    "counted as 0": "0으로 계산",
    "counted as 1": "1로 계산",
    "refused": "거부",
    "a repeated document is refused": "중복된 문서: 거부",
    "a repeated document is counted once": "중복된 문서: 한 번만 계산",
    "a repeated document is counted in every slot": "중복된 문서: 자리마다 계산",
    "linear gain": "선형 이득",
    "exponential gain": "지수 이득",
    "index {indexes}": "색인 {indexes}",
    # ------------------------ an explanation
    "{column} of {query_id}": "{query_id}의 {column}",
    "relevant documents in the whole corpus: {n} ({docs})": (
        "말뭉치 전체의 정답 문서: {n}개 ({docs})"
    ),
    'no document is relevant to this query: with no_relevant="{policy}" it is {treated}': (
        '이 질의에는 정답 문서가 없음: no_relevant="{policy}"에 따라 {treated}'
    ),
    "left out of the mean": "평균에서 제외",
    "only {n} of {k} hits came back; the other ranks hold nothing": (
        "{k}개를 요청했으나 {n}개만 검색됨; 나머지 순위는 비어 있음"
    ),
    'a document appears more than once: with duplicates="position" each of its slots counts': (
        '같은 문서가 두 번 이상 나옴: duplicates="position"이므로 자리마다 계산'
    ),
    'with gain="exponential" a grade g is worth 2 ** g - 1': (
        'gain="exponential"이므로 등급 g의 이득은 2 ** g - 1'
    ),
    "relevant documents in the first {k}: at rank {ranks}": (
        "상위 {k}개 안의 정답 문서: 순위 {ranks}"
    ),
    "relevant documents in the first {k}: nowhere": "상위 {k}개 안의 정답 문서: 없음",
    "{label}, 1 if there is one, else 0": "{label}, 하나라도 있으면 1, 없으면 0",
    "no relevant document in the first {k}": "상위 {k}개 안에 정답 문서가 없음",
    "{label} = 1 / rank of the first relevant document = 1 / {first}": (
        "{label} = 1 / 첫 정답 문서의 순위 = 1 / {first}"
    ),
    "IDCG@{k}: all relevant documents of the corpus on the first ranks = {sum} = {idcg}": (
        "IDCG@{k}: 말뭉치의 모든 정답 문서를 앞 순위에 놓은 값 = {sum} = {idcg}"
    ),
    "stops here = satisfied, times the chance that no document above it satisfied": (
        "stops here = satisfied x 위의 어느 문서에도 만족하지 않았을 확률"
    ),
    "{label} = sum of stops here / rank = {sum}": "{label} = (stops here / rank)의 합 = {sum}",
    "weight = {p:g} ** (rank - 1): the chance that a reader looks so far": (
        "weight = {p:g} ** (rank - 1): 사용자가 이 순위까지 볼 확률"
    ),
    "{label} = (1 - {p:g}) x sum of the weights of relevant documents = {rest:.4g} x ({sum})": (
        "{label} = (1 - {p:g}) x 정답 문서의 weight 합 = {rest:.4g} x ({sum})"
    ),
    "the denominator is k = {k}, also where fewer hits came back": (
        "분모는 k = {k}, 검색된 문서가 더 적어도 같음"
    ),
    "{label} = relevant in the first {k} / k = {found} / {k}": (
        "{label} = 상위 {k}개 안의 정답 문서 / k = {found} / {k}"
    ),
    "the denominator is every relevant document of the corpus, found or not: {relevant}": (
        "분모는 찾았든 못 찾았든 말뭉치의 모든 정답 문서: {relevant}개"
    ),
    "{label} = relevant in the first {k} / all relevant = {found} / {relevant}": (
        "{label} = 상위 {k}개 안의 정답 문서 / 모든 정답 문서 = {found} / {relevant}"
    ),
    "{label} = sum of the precision at each relevant rank / all relevant = ({sum}) / {relevant}": (
        "{label} = 정답 문서가 나온 순위마다 구한 정밀도의 합 / 모든 정답 문서 = ({sum}) / "
        "{relevant}"
    ),
    "R is the number of relevant documents of the corpus: {r}": (
        "R은 말뭉치에 있는 정답 문서의 수: {r}"
    ),
    "{label} = relevant in the first R / R = {found} / {r}": (
        "{label} = 상위 R개 안의 정답 문서 / R = {found} / {r}"
    ),
    "the denominator is what came back in the first {k}: {came}": (
        "분모는 상위 {k}개 안에서 실제로 검색된 문서: {came}개"
    ),
    "{label} = judged / came back = {judged} / {came}": (
        "{label} = 판정된 문서 / 검색된 문서 = {judged} / {came}"
    ),
    "{label} = different documents in the first {k}": "{label} = 상위 {k}개 안의 서로 다른 문서",
    "{label} = numerator / denominator = {numerator:g} / {denominator:g}": (
        "{label} = 분자 / 분모 = {numerator:g} / {denominator:g}"
    ),
    # ------------------------ results of a search
    "Results of {queries}, k={k}": "{queries}의 검색 결과, k={k}",
    "unknown": "알 수 없음",
    "no scores": "점수 없음",
    "score: {name}": "점수: {name}",
    "score: {name}, lower is better": "점수: {name}, 낮을수록 좋음",
    "score: {name}, higher is better": "점수: {name}, 높을수록 좋음",
    "{searched} searched, {cached} from the cache": "새로 검색 {searched}개, 캐시에서 {cached}개",
    "squared L2 distance": "L2 거리의 제곱",
    "inner product": "내적",
    "distance": "거리",
    "sum of cosines": "코사인의 합",
    "documents since the last search: {changes}": "지난 검색 이후 바뀐 문서: {changes}",
    "{n} added ({ids})": "추가 {n}개({ids})",
    "{n} removed ({ids})": "삭제 {n}개({ids})",
    "{n} changed ({ids})": "수정 {n}개({ids})",
    "embeddings were {before}, now {now}": "임베딩 모델이 바뀜: 전에는 {before}, 지금은 {now}",
    "the model embeds questions otherwise (settings, prompt) since the last search": (
        "지난 검색 이후 모델이 질문을 다르게 임베딩함(설정, 프롬프트)"
    ),
    "the same texts, with other vectors, order or settings since the last search": (
        "지난 검색과 글은 같으나 벡터, 순서 또는 설정이 다름"
    ),
    # ------------------------ how files were read, and what copies differ in
    "read {documents} from {files}": "{files}에서 {documents} 읽음",
    "; left out: {others}": "; 제외: {others}",
    "read {counted}: {columns}": "{counted} 읽음: {columns}",
    "left out: {others}": "제외: {others}",
    "relevant_doc_ids, found in the documents": "relevant_doc_ids(문서에서 찾음)",
    "relevant_doc_ids <- files in {answers}": "relevant_doc_ids <- {answers}에 적힌 파일",
    "{n:,} found by near={near}": "near={near} 덕분에 찾은 것 {n:,}개",
    "{n:,} without relevant documents": "정답 문서가 없는 질문 {n:,}개",
    "no relevant documents": "정답 문서 없음",
    "sheet {title}, not {others}": "시트 {title} 사용, {others} 제외",
    "lacks": "빠짐",
    "adds": "추가",
    "nothing": "없음",
    # ------------------------ reports
    "error": "오류",
    "warning": "경고",
    "  ... and {more}: report.to_frame() lists all": (
        "... 그 밖에 {more}: 전체 목록은 report.to_frame()에 있습니다"
    ),
    "{first} and {n:,} more": "{first} 외 {n:,}개",
    " and ": ", ",
    # ------------------------ findings in a dataset: which records
    "document": "문서",
    "query": "질의",
    "all documents": "모든 문서",
    "all queries": "모든 질의",
    "documents {places}": "문서 {places}",
    "queries {places}": "질의 {places}",
    "corpus": "말뭉치",
    "texts": "글",
    "table of judgements": "판정 표",
    "Then validate again": "그런 다음 다시 검사하십시오",
    "there is no {noun}": "{noun} 항목이 하나도 없습니다",
    "Load at least one {noun}": "{noun} 항목을 하나 이상 읽어 들이십시오",
    # ------------------------ findings in a dataset: fields and ids
    "the field {field} is missing in every one (found {found})": (
        "어디에도 {field} 필드가 없습니다(있는 필드: {found})"
    ),
    "Add {field}, or rename what holds it": (
        "{field} 필드를 추가하거나, 그 내용이 든 필드의 이름을 바꾸십시오"
    ),
    "the field {field} is missing (found {found})": "{field} 필드가 없습니다(있는 필드: {found})",
    "Add {field}": "{field} 필드를 추가하십시오",
    "{field} must be a text that is not empty, found {found}": (
        "{field} 필드에는 비어 있지 않은 문자열이 있어야 합니다. 지금 값: {found}"
    ),
    "{field} must be a text that is not empty, found {found}; it is judged for {queries}": (
        "{field} 필드에는 비어 있지 않은 문자열이 있어야 합니다. 지금 값: {found}; 판정에 쓴 "
        "질의: {queries}"
    ),
    "Give it a {field}, or take the {noun} out": (
        "{field} 필드를 채우거나 해당 {noun} 항목을 빼십시오"
    ),
    "Give it a {field}, or take the {noun} and its judgements out": (
        "{field} 필드를 채우거나 해당 {noun} 항목과 그 판정을 함께 빼십시오"
    ),
    "{field} holds half a character, {found}": "{field} 필드에 반쪽짜리 글자가 있습니다: {found}",
    "Read the file again as UTF-8, or take the half out: no model can read it": (
        "파일을 UTF-8로 다시 읽거나 그 글자를 빼십시오. 어떤 모델도 읽지 못합니다"
    ),
    "control characters in {counted}: a terminal obeys them": (
        "{counted}에 제어 문자가 있습니다. 터미널이 이를 명령으로 받아들입니다"
    ),
    "Take them out: re.sub(r'[\\x07\\x08\\x1b\\x9b]', '', text)": (
        "빼십시오: re.sub(r'[\\x07\\x08\\x1b\\x9b]', '', text)"
    ),
    "{n:,} of {all:,} documents have an empty title": (
        "문서 {all:,}개 가운데 {n:,}개의 제목이 비어 있습니다"
    ),
    "Nothing to do if the collection has no titles": (
        "본래 제목이 없는 자료라면 그대로 두어도 됩니다"
    ),
    "{an_id} appears {n} times": "{an_id}: 같은 id가 {n}번 나옵니다",
    "Give every {noun} an id of its own, or remove the repeats": (
        "{noun}마다 다른 id를 주거나 중복된 것을 지우십시오"
    ),
    "{both} differ only by {by}": "{both}: 차이는 {by}뿐입니다",
    "Write an id in one way everywhere": "같은 id는 어디서나 똑같이 쓰십시오",
    'Make it a text: "{text}"': '문자열로 바꾸십시오: "{text}"',
    "Give it an id": "id를 주십시오",
    "type ({one} and {other})": "자료형({one}, {other})",
    "Unicode form (NFC and NFD)": "유니코드 정규화 형식(NFC, NFD)",
    "white space": "공백",
    "case": "대소문자",
    # ------------------------ findings in a dataset: judgements and passages
    "this query has no relevant document; metrics leave it out and count it as excluded": (
        "이 질의에는 정답 문서가 없습니다. 지표는 이 질의를 빼고 제외된 질의로 셉니다"
    ),
    "Judge it, or keep it as unanswerable on purpose": (
        "정답 문서를 판정하거나, 일부러 넣은 답 없는 질의라면 그대로 두십시오"
    ),
    "a document appears twice in relevant_doc_ids; it counts once": (
        "relevant_doc_ids에 같은 문서가 두 번 있습니다. 한 번만 셉니다"
    ),
    "Remove the repeat": "중복된 것을 지우십시오",
    "{doc_id} differs from the corpus's {twin} only by {by}": (
        "{doc_id}: 말뭉치에는 {twin} 형태로 있습니다. 차이는 {by}뿐입니다"
    ),
    "Write the id as text and in the same way on both sides": (
        "양쪽 모두 id를 문자열로, 똑같이 쓰십시오"
    ),
    "a relevant_doc_id must be a text, found {found}": (
        "relevant_doc_id는 문자열이어야 합니다. 지금 값: {found}"
    ),
    "this relevant_doc_id is in no document": "이 relevant_doc_id를 가진 문서가 없습니다",
    "; near it: {near}": "; 비슷한 id: {near}",
    "Correct the id, or add the document to the corpus": (
        "id를 고치거나 말뭉치에 그 문서를 추가하십시오"
    ),
    "the grade must be a finite number, found {found}": (
        "등급은 유한한 수여야 합니다. 지금 값: {found}"
    ),
    "Write 1 for relevant, 0 for not": "정답이면 1, 아니면 0을 쓰십시오",
    "must be a list or a dict, found {found}": "리스트나 딕셔너리여야 합니다. 지금 값: {found}",
    "holds a list within the list: {found}": "리스트 안에 리스트가 있습니다: {found}",
    "Write {meant}": "이렇게 쓰십시오: {meant}",
    "Write {meant}, a list and not its text": "이렇게 쓰십시오: {meant} (문자열이 아니라 리스트)",
    "Write {meant}, one list": "이렇게 쓰십시오: {meant} (리스트 하나)",
    "must be a list of dicts, found {found}": "딕셔너리의 리스트여야 합니다. 지금 값: {found}",
    "a passage must be a dict with doc_id and text, found {found}": (
        "구절은 doc_id와 text가 있는 딕셔너리여야 합니다. 지금 값: {found}"
    ),
    "the document {doc_id} is not found": "문서를 찾을 수 없습니다: {doc_id}",
    "Correct the doc_id, or add the document": "doc_id를 고치거나 그 문서를 추가하십시오",
    "start and end must be whole numbers, start first, found {start} and {end}": (
        "start와 end는 정수이고 start가 앞이어야 합니다. 지금 값: {start}, {end}"
    ),
    "Count characters from 0; the end is the first one behind the passage": (
        "글자를 0부터 세십시오. end는 구절 바로 다음 글자의 자리입니다"
    ),
    "the text must be one that is not empty, found {found}": (
        "text는 비어 있지 않은 문자열이어야 합니다. 지금 값: {found}"
    ),
    "Copy the passage from the document": "구절을 문서에서 그대로 옮기십시오",
    "the text {text} of {doc_id} is not found there": "{doc_id} 문서에 이 글이 없습니다: {text}",
    "Copy it from the document, or give start and end": (
        "문서에서 그대로 옮기거나 start와 end를 주십시오"
    ),
    "the text {text} of {doc_id} appears there {n} times, at {starts}": (
        "{doc_id} 문서에 이 글이 {n}번 나옵니다: {text}, 자리 {starts}"
    ),
    "Give start and end": "start와 end를 주십시오",
    "end {end:,} is behind the end of {doc_id}, {length:,}": (
        "end {end:,}: {doc_id} 문서의 길이 {length:,}자보다 뒤입니다"
    ),
    "Count characters of its content, from 0": "content의 글자를 0부터 세십시오",
    "{place} is {stands}, and the text is {text}": (
        "{place} 자리에 있는 글은 {stands}, text에 적힌 글은 {text}: 서로 다릅니다"
    ),
    "Correct one of the two, or leave one out": "둘 가운데 하나를 고치거나 빼십시오",
    # ------------------------ findings in a dataset: texts
    "{n} documents have the same content ({begins}...)": (
        "문서 {n}개의 내용이 같습니다({begins}...)"
    ),
    "Keep one: copies inflate some scores and crowd out others": (
        "하나만 남기십시오. 중복 문서는 일부 점수를 부풀리고 다른 문서를 밀어냅니다"
    ),
    "the question {asked} is asked {n} times": "같은 질문이 {n}번 나옵니다: {asked}",
    "Keep one: a repeated query weighs double in every mean": (
        "하나만 남기십시오. 반복된 질의는 모든 평균에서 두 배로 셉니다"
    ),
    "title": "제목",
    "content": "내용",
    "title and content": "제목과 내용",
    "{n:,} the {part}": "{part} {n:,}개",
    (
        "{n:,} of {all:,} questions are literally the text of a document ({counts}): "
        "{query_id} is the {part} of {doc_id}"
    ): (
        "질문 {all:,}개 가운데 {n:,}개가 문서의 글 그대로입니다({counts}). 예: {query_id} = "
        "{doc_id}의 {part}"
    ),
    "Ask as a user would: a copied text is found too easily. Or search without titles": (
        "사용자가 묻듯이 질문하십시오. 베낀 글은 너무 쉽게 검색됩니다. 아니면 제목을 빼고 "
        "검색하십시오"
    ),
    (
        "{asked:,} of {queries:,} questions are in Unicode form {form}, {written:,} of "
        "{documents:,} documents in {other}"
    ): (
        "질문 {queries:,}개 가운데 {asked:,}개는 유니코드 정규화 형식 {form}, 문서 "
        "{documents:,}개 가운데 {written:,}개는 {other} 형식입니다"
    ),
    'Bring all texts to one form: unicodedata.normalize("NFC", text)': (
        '모든 글을 한 형식으로 맞추십시오: unicodedata.normalize("NFC", text)'
    ),
    # ------------------------ findings in results
    "results of {queries}, at most {hits} each": "{queries}의 검색 결과, 질의마다 최대 {hits}",
    "the scores neither fall nor rise along the ranking": (
        "점수가 순위를 따라 내려가지도 올라가지도 않습니다"
    ),
    "Order the hits by their score: falling for a similarity, rising for a distance": (
        "검색 결과를 점수 순으로 놓으십시오. 유사도는 내림차순, 거리는 오름차순입니다"
    ),
    "the scores rise here and fall in other queries": (
        "점수가 여기서는 올라가고 다른 질의에서는 내려갑니다"
    ),
    "the scores fall here and rise in other queries": (
        "점수가 여기서는 내려가고 다른 질의에서는 올라갑니다"
    ),
    "Order all rankings alike: best first": "모든 순위를 같은 방향으로, 좋은 것부터 놓으십시오",
    "the scores are distances (lower is better) and fall along the ranking: the worst come first": (
        "점수가 거리(낮을수록 좋음)인데 순위를 따라 내려갑니다. 가장 나쁜 것이 맨 앞에 옵니다"
    ),
    "Order distances rising": "거리는 오름차순으로 놓으십시오",
    (
        "the scores are similarities (higher is better) and rise along the ranking: the "
        "worst come first"
    ): ("점수가 유사도(높을수록 좋음)인데 순위를 따라 올라갑니다. 가장 나쁜 것이 맨 앞에 옵니다"),
    "Order similarities falling": "유사도는 내림차순으로 놓으십시오",
    "all {n} queries have the same ranking": "질의 {n}개의 순위가 모두 같습니다",
    "Look at how queries are embedded: the question may not reach the model": (
        "질의를 어떻게 임베딩하는지 살펴보십시오. 질문이 모델에 전달되지 않는 듯합니다"
    ),
    "documents that appear more than once in the ranking: {docs}": (
        "순위에 두 번 이상 나오는 문서가 있습니다: {docs}"
    ),
    'Fold chunks and copies to their source document, or choose duplicates="unique"': (
        '청크와 중복 문서를 원본 문서로 합치거나 duplicates="unique"를 고르십시오'
    ),
    "no results for {queries}: the score is 0": "{queries}의 검색 결과가 없습니다. 점수는 0입니다",
    "Search them, or say that they found nothing": (
        "이 질의를 검색하거나, 찾은 것이 없다고 밝히십시오"
    ),
    "results of {queries} not in all_qa are left out": (
        "all_qa에 없는 {queries}의 검색 결과를 뺐습니다"
    ),
    "Evaluate with the queries that were searched": "검색한 질의로 평가하십시오",
    "all_qa asks another question than the one that was searched": (
        "all_qa의 질문이 검색한 질문과 다릅니다"
    ),
    "Search again": "다시 검색하십시오",
    "these relevant documents were folded into others, and can no longer be found": (
        "이 정답 문서들은 다른 문서로 합쳐져 더는 찾을 수 없습니다"
    ),
    "Fold the judgements alike: all_qa = fold_judgements(all_qa, source_of)": (
        "판정도 똑같이 합치십시오: all_qa = fold_judgements(all_qa, source_of)"
    ),
    "the query itself stands at rank 1 of {n:,} of {all:,} rankings": (
        "질의 {all:,}개 가운데 {n:,}개에서 질의 자신이 1위로 나옵니다"
    ),
    "Leave out the hit whose doc_id is the query_id: the text is in the corpus too": (
        "doc_id가 query_id와 같은 검색 결과를 빼십시오. 질의의 글이 말뭉치에도 있습니다"
    ),
    (
        "{n:,} of {all:,} first relevant hits have the score of another hit, so that the "
        "order of ties decides ({different:,} different scores among {scores:,})"
    ): (
        "첫 정답 문서 {all:,}개 가운데 {n:,}개의 점수가 다른 검색 결과와 같아, 동점의 순서가 "
        "결과를 정합니다(점수 {scores:,}개 가운데 서로 다른 값 {different:,}개)"
    ),
    "Keep scores in float32 at least, unrounded; copies in the corpus tie too": (
        "점수를 반올림하지 말고 float32 이상으로 두십시오. 말뭉치의 중복 문서도 동점이 됩니다"
    ),
    "{counted} in no document: {lost}": "{counted}에 해당하는 문서가 없습니다: {lost}",
    "Correct them: validate_dataset(docs, all_qa) lists each with its query": (
        "고치십시오. validate_dataset(docs, all_qa)가 질의와 함께 하나씩 알려 줍니다"
    ),
    "hits that are in no document: {ids}": "문서 목록에 없는 검색 결과가 있습니다: {ids}",
    "Give check_results the docs that were searched": "check_results에 검색한 docs를 주십시오",
    "fewer than {depth} hits, although the corpus has {size:,} documents": (
        "말뭉치에 문서가 {size:,}개인데 검색 결과는 {depth}개보다 적습니다"
    ),
    "Ask the search for k={depth}: every query must be searched to the same depth": (
        "검색할 때 k={depth} 값을 쓰십시오. 모든 질의를 같은 깊이까지 검색해야 합니다"
    ),
    "; they end at different depths, and no score is above {limit:.4g}": (
        "; 끝나는 깊이가 서로 다르고, {limit:.4g}보다 큰 점수가 없습니다"
    ),
    "; they end at different depths, and no score is below {limit:.4g}": (
        "; 끝나는 깊이가 서로 다르고, {limit:.4g}보다 작은 점수가 없습니다"
    ),
    "A score threshold of the search? Then that many is what it finds; else lower it": (
        "검색에 점수 임계값이 있습니까? 그렇다면 찾은 것은 그만큼이 전부입니다. 아니라면 "
        "임계값을 낮추십시오"
    ),
    "k={depth} is above the corpus size {size:,}": (
        "k={depth}: 말뭉치의 문서 수 {size:,}보다 큽니다"
    ),
    "Choose a smaller k: the last ranks can only be empty": (
        "더 작은 k를 고르십시오. 마지막 순위들은 빌 수밖에 없습니다"
    ),
    (
        "documents with copies stand at rank 1 of {seen:,} of {n:,} rankings, and are "
        "{copied:,} of {all:,} documents and {of_relevant:.0%} of the relevant"
    ): (
        "질의 {n:,}개 가운데 {seen:,}개에서 중복 문서가 1위로 나옵니다. 중복 문서는 문서 "
        "{all:,}개 가운데 {copied:,}개이고, 정답 문서의 {of_relevant:.0%}입니다"
    ),
    'Does a fusion add their scores? EnsembleRetriever needs id_key="doc_id"': (
        '융합이 중복 문서의 점수를 더합니까? EnsembleRetriever에는 id_key="doc_id"가 필요합니다'
    ),
    "no query has a hit": "검색 결과가 있는 질의가 없습니다",
    "Look at the search": "검색을 살펴보십시오",
    "only {judged:,} of {returned:,} hits are judged; the others count as not relevant": (
        "검색 결과 {returned:,}개 가운데 {judged:,}개만 판정되었습니다. 나머지는 정답이 아닌 "
        "것으로 셉니다"
    ),
    'Judge them, or report metrics=["Judged"] beside the scores': (
        '판정하거나, 점수 옆에 metrics=["Judged"]를 함께 보고하십시오'
    ),
    # ------------------------ findings in ids that nobody knows
    "hardly a hit is a document that all_qa judges for any query": (
        "all_qa에서 판정한 문서가 검색 결과에 거의 없습니다"
    ),
    "no hit is a document that all_qa judges for any query": (
        "all_qa에서 판정한 문서가 검색 결과에 하나도 없습니다"
    ),
    ", over {queries}: {returned} was returned, {known} is judged": (
        ", {queries}: 검색된 id는 {returned}, 판정된 id는 {known}"
    ),
    "Were the documents searched under the ids that all_qa has?": (
        "all_qa에 있는 id로 문서를 검색했습니까?"
    ),
    "{returned} and {known} differ in {differ}": "{returned}, {known}: 차이는 {differ}입니다",
    "decimal point": "소수점",
    "suffix": "접미사",
    "extension": "확장자",
    "path": "경로",
    "prefix": "접두사",
    "leading zeros": "앞자리 0",
    "Fold chunks to their documents: fold(results, lambda hit: {source}, k)": (
        "청크를 원본 문서로 합치십시오: fold(results, lambda hit: {source}, k)"
    ),
    "Write ids alike in the documents, the store and all_qa, and search again": (
        "문서, 벡터 저장소, all_qa의 id를 똑같이 쓰고 다시 검색하십시오"
    ),
    # ------------------------ findings in a table of scores
    "{metrics} at {cutoffs}": "{metrics}, {cutoffs}",
    "{value:.4g} is outside 0..1": "{value:.4g}: 0..1의 범위를 벗어납니다",
    "Look for repeated documents, or for a denominator that forgets relevant documents": (
        "중복된 문서가 있는지, 분모에서 정답 문서가 빠졌는지 살펴보십시오"
    ),
    "falls from {value:.4g} at k={k} to {later:.4g} at k={deeper}, and can only rise with k": (
        "k={k}에서 {value:.4g}, k={deeper}에서 {later:.4g}: k가 커지면 올라갈 수만 있는데 "
        "내려갑니다"
    ),
    "Is a distance sorted descending?": "거리를 내림차순으로 정렬했습니까?",
    (
        "MRR {rr:.4g} is above HitRate {hit:.4g}, and 1 / rank is at most 1 where something "
        "was found"
    ): (
        "MRR {rr:.4g}, HitRate {hit:.4g}: MRR이 더 큽니다. 찾은 질의에서도 1 / rank는 1을 "
        "넘지 못하므로 있을 수 없는 값입니다"
    ),
    "Average both over the same queries": "둘 다 같은 질의들로 평균을 내십시오",
    "this row was not checked: no metric is called so": (
        "이 행은 검사하지 않았습니다. 이런 이름의 지표가 없습니다"
    ),
    "Rename it, as in MRR": "MRR처럼 지표의 이름으로 바꾸십시오",
    # ------------------------ forms to judge and to explore, and the scale of grades
    "not about the question": "질문과 관계없음",
    "about its subject, without an answer": "주제는 같으나 답이 없음",
    "answers a part of it, or not clearly": "일부만 또는 분명하지 않게 답함",
    "answers it": "질문에 답함",
    "undo (u)": "되돌리기(u)",
    "click here for the keys 0 to 3, u": "여기를 누르고 0~3, u 키를 쓰십시오",
    "{n:,} of {all:,} judged": "{all:,}개 가운데 {n:,}개 판정함",
    "Not saved: {error}. Close the file elsewhere.": (
        "저장하지 못했습니다: {error}. 다른 곳에서 연 파일을 닫으십시오."
    ),
    "All is judged. Thank you.": "모두 판정했습니다. 감사합니다.",
    "first": "첫째",
    "second": "둘째",
    "kind": "종류",
    "all kinds": "모든 종류",
    "lost": "둘째가 놓침",
    "won": "둘째만 찾음",
    "missed by both": "둘 다 못 찾음",
    "found by both": "둘 다 찾음",
    "{n:,} {side}": "{side} {n:,}개",
    "No query.": "질의가 없습니다.",
    "relevant: {docs}": "정답 문서: {docs}",
    "not judged": "판정 안 됨",
    "grade {grade:g}": "등급 {grade:g}",
    # ------------------------ what asking a model costs
    "The first prompt:": "첫 프롬프트:",
    (
        "To ask: {texts} of {characters:,} characters in all, {requests}, at most {most:,} "
        "where replies are malformed; {replies} kept before. Nothing was asked yet: leave "
        "out dry_run=True to ask."
    ): (
        "보낼 것: {texts}, 모두 {characters:,}자, {requests}(응답 형식이 틀리면 최대 "
        "{most:,}회); 이미 보관된 {replies}. 아직 아무것도 묻지 않았습니다. 물으려면 "
        "dry_run=True를 빼십시오."
    ),
    "{questions} suggested by the model {model}, {lost} left out": (
        "모델 {model} 제안: {questions}, 제외: {lost}"
    ),
    # ------------------------ exercises
    "right": "정답",
    "wrong": "오답",
    "not attempted": "아직 풀지 않음",
    "put your answer in place of ... and run the cell again.": (
        "... 자리에 답을 쓰고 셀을 다시 실행하십시오."
    ),
    "it returns None. Put its lines in place of ... and end it with return.": (
        "함수가 None을 돌려줍니다. ... 자리에 코드를 쓰고 return으로 끝내십시오."
    ),
    "{found} is not right.": "{found}: 정답이 아닙니다.",
    "hint({name}) helps.": "힌트를 보려면 hint({name})를 실행하십시오.",
    "the answer is {wanted}; found {found}.": (
        "답의 형태가 다릅니다. 필요한 것: {wanted}. 받은 것: {found}."
    ),
    "{found} is rounded too far: give {n} decimals.": (
        "{found}: 너무 일찍 반올림했습니다. 소수 {n}자리까지 쓰십시오."
    ),
    "give the function itself, without parentheses; found {found}.": (
        "괄호를 붙이지 말고 함수 자체를 넘기십시오. 받은 것: {found}."
    ),
    "with {case} it returns {found}, and {wanted} is right.": (
        "인자가 {case}일 때 돌려준 값은 {found}, 옳은 값은 {wanted}입니다."
    ),
    "a number": "숫자",
    "a string": "문자열",
    "a list": "리스트",
    "a list of numbers": "숫자의 리스트",
    "a list of strings": "문자열의 리스트",
    "a dict": "딕셔너리",
    "a set": "집합",
    "a dict with the keys {keys}": "키가 {keys}인 딕셔너리",
    "a tuple ({parts})": "튜플({parts})",
    "True or False": "True 또는 False",
    "something else": "다른 형태의 값",
    "with {case} it ends in an error, {error}": "인자가 {case}일 때 오류가 났습니다. {error}",
    "it was stopped after {n} seconds. It is too slow, or a loop in it has no end, such as a while "
    "whose condition stays true.": (
        "{n}초가 지나도 끝나지 않아 멈추었습니다. 너무 느리거나, 조건이 언제나 참인 while처럼 "
        "끝나지 않는 반복문이 있습니다."
    ),
    "it ends Python, by exit() or quit(). End it with return.": (
        "함수가 exit()나 quit()로 파이썬을 끝냅니다. return으로 끝내십시오."
    ),
    "your function is called with {arguments} ({names}), such as {case}; it takes {found}.": (
        "함수를 부를 때 넘기는 것: {arguments}({names}), 예: {case}. 함수가 받는 것: {found}."
    ),
    "it has yield or async, and so returns no value. End it with return.": (
        "yield나 async가 있는 함수는 값을 돌려주지 않습니다. return으로 값을 돌려주십시오."
    ),
    "interrupted: your answer had not ended.": "답의 실행이 끝나기 전에 중단했습니다.",
    "this is in per cent. Give the share itself: 0.345, not 34.5 %.": (
        "백분율로 쓴 값입니다. 34.5 %가 아니라 0.345처럼 비율로 쓰십시오."
    ),
    "Hint {n} of {all}: {hint}": "힌트 {n}/{all}: {hint}",
    "With your numbers: {answer}": "받은 수로 계산한 답: {answer}",
    "answer with a dict of letters, such as {example}.": (
        "글자를 담은 딕셔너리로 답하십시오. 예: {example}."
    ),
    "no question has this number: {numbers}.": "이 번호의 문제는 없습니다: {numbers}.",
    "choose a, b, c or d.": "a, b, c, d 가운데 하나를 고르십시오.",
    "{right} of {all} are right.": "{all}개 가운데 {right}개가 맞았습니다.",
    # ------------------------ the class folder
    "slides": "슬라이드",
    "notebook": "노트북",
    "stopped; nothing was written.": "중단했습니다. 아무것도 쓰지 않았습니다.",
    "slides {n}": "슬라이드 {n}개",
    "no slides, since nbconvert is missing ({cure})": "슬라이드 없음(nbconvert 없음: {cure})",
    "Written to {out}: notebooks {notebooks}, exercises {exercises}, {slides}; all of it also "
    "in rageval_course.zip beside it.": (
        "{out}에 만들었습니다. 노트북 {notebooks}개, 연습 문제 {exercises}개, {slides}. "
        "옆에 있는 rageval_course.zip에도 모두 들어 있습니다."
    ),
    "Next: read README.md in that folder, and on every machine run there:": (
        "다음: 그 폴더의 README.md를 읽고, 컴퓨터마다 그 폴더에서 다음을 실행하십시오."
    ),
    # ------------------------ labels of plots
    "mean over queries": "질의 평균",
    "rank": "순위",
    "score": "점수",
    "relevant": "정답",
    "← better": "← 더 좋음",
    "better →": "더 좋음 →",
    "95 % interval": "95 % 신뢰 구간",
    "difference, 95 % interval": "차이, 95 % 신뢰 구간",
    "{metric}: difference to {baseline}, 95 % interval": (
        "{metric}: 기준({baseline})과의 차이, 95 % 신뢰 구간"
    ),
    "cannot tell": "판단 불가",
    "better on {n}": "{n}개에서 더 낫다",
    "equal on {n}": "{n}개에서 같다",
    "worse on {n}": "{n}개에서 더 못하다",
    "{n} queries, sorted by difference": "질의 {n}개, 차이가 큰 순서",
    "unanswerable answered": "답이 없는데 답함",
    "answerable refused": "답이 있는데 거부함",
    "share of queries": "질의 비율",
    "refuse if the best hit is farther than this (distance)": (
        "첫 결과가 이보다 멀면 답하지 않는다(거리)"
    ),
    "refuse if the best hit is below this (similarity)": (
        "첫 결과가 이보다 낮으면 답하지 않는다(유사도)"
    ),
    "median milliseconds a query": "질의당 밀리초(중앙값)",
    "money": "비용",
    "{metric}, mean over the queries of a kind": "{metric}, 유형별 질의 평균",
    "seen: {value}": "관측값: {value}",
    "middle 95 %: {low} to {high}": "가운데 95 %: {low} ~ {high}",
    "limit": "한계",
}
