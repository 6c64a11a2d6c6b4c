"""data_folder finds the course's data wherever a notebook is opened, or says what to do."""

import pytest
from conftest import ROOT

from rageval_kit import course_data, data_folder, load_dataset


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A folder from which nothing is found: no data above it, beside the package or in Colab."""
    monkeypatch.setattr(course_data, "_PACKAGE", tmp_path / "site-packages")
    monkeypatch.setattr(course_data, "_COLAB", (tmp_path / "content", tmp_path / "drive"))
    here = tmp_path / "home" / "student"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    return here


def put_data(root):
    """Put the course's data into a folder, as an unzipped course has them."""
    for inner in ("lecture/ko", "lecture/en", "campus/ko", "campus/runs"):
        (root / "data" / inner).mkdir(parents=True)
    return root / "data"


@pytest.mark.parametrize("inside", [".", "notebooks", "notebooks/ko", "notebooks/ko/exercises"])
def test_it_is_found_from_every_folder_of_a_clone(nowhere, monkeypatch, inside):
    data = put_data(nowhere)
    (nowhere / inside).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(nowhere / inside)
    assert data_folder("campus", "ko") == data / "campus" / "ko"
    assert data_folder("campus", "runs") == data / "campus" / "runs"
    assert data_folder("campus") == data / "campus"


@pytest.mark.parametrize("place", ["site-packages", "content", "drive"])
@pytest.mark.parametrize("unzipped_as", ["", "rageval_course"])
def test_it_is_found_beside_the_package_and_in_colab(nowhere, place, unzipped_as):
    data = put_data(nowhere.parent.parent / place / unzipped_as)
    assert data_folder("lecture", "en") == data / "lecture" / "en"


def test_it_is_found_in_the_folder_that_unzipping_made(nowhere):
    data = put_data(nowhere / "rageval_course")
    assert data_folder("lecture", "ko") == data / "lecture" / "ko"


def test_the_nearest_is_taken(nowhere):
    put_data(nowhere.parent)
    nearest = put_data(nowhere)
    assert data_folder("lecture", "ko") == nearest / "lecture" / "ko"


def test_a_folder_data_of_somebody_else_is_passed_over(nowhere):
    (nowhere / "data" / "my-thesis").mkdir(parents=True)
    above = put_data(nowhere.parent)
    assert data_folder("lecture", "ko") == above / "lecture" / "ko"
    assert data_folder("my-thesis") == nowhere / "data" / "my-thesis"


def test_it_is_a_dataset_here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # from anywhere: the package is installed from a clone
    assert data_folder("lecture", "ko") == ROOT / "data" / "lecture" / "ko"
    assert len(load_dataset(data_folder("lecture", "ko")).docs) == 12


def test_where_there_are_no_data_the_error_says_where_it_looked_and_what_to_do(nowhere):
    with pytest.raises(FileNotFoundError) as caught:
        data_folder("campus", "ko")
    said = str(caught.value)
    for fact in (
        "'data/campus/ko' was not found",
        f"{nowhere} and the folders above it",
        "site-packages",
        "content",
        "drive",
        f"Upload rageval_course.zip to {nowhere}",
        "!unzip -oq rageval_course.zip",
        "the path of the folder",
    ):
        assert fact in said


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (("campus", "fr"), "no 'campus/fr'. Choose one: campus/ko, campus/runs."),
        (("campus", ".."), "no 'campus/..'. Choose one: campus/ko, campus/runs."),
        (("Lecture",), "no 'Lecture'. Choose one: campus, lecture."),
        (("handbook",), "no 'handbook'. Choose one: campus, lecture."),
        (("/",), "no '/'. Choose one: campus, lecture."),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(nowhere, wanted, said):
    put_data(nowhere)
    with pytest.raises(ValueError, match="the course's data hold") as caught:
        data_folder(*wanted)
    assert said in str(caught.value)


@pytest.mark.parametrize("wanted", [(None,), (5,), ("campus", 1), ("campus", ["ko"])])
def test_what_is_no_text_is_refused(wanted):
    with pytest.raises(TypeError, match='must be a text such as "'):
        data_folder(*wanted)


def test_data_are_found_where_the_working_folder_was_deleted(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert data_folder("campus", "ko") == ROOT / "data" / "campus" / "ko"
