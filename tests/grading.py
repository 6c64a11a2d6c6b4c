"""What a teacher with nbgrader does, in a virtual environment of its own: assign, autograde, export.

Usage: python grading.py COURSE MASTERS SUBMISSIONS

MASTERS holds solved masters (*.ipynb), all of one assignment; SUBMISSIONS a folder a student with
the notebooks that were handed in. Prints JSON: what each notebook of the assignment looks like to a
student, and each student's score and maximum in the table of grades that nbgrader exports.
"""

import csv
import json
import shutil
import sys
from pathlib import Path

ASSIGNMENT = "session"


def main(course, masters, submissions):
    from nbgrader.api import Gradebook  # here, for the kit's own environment has no nbgrader
    from nbgrader.apps import NbGraderAPI
    from nbgrader.plugins import CsvExportPlugin
    from traitlets.config import Config

    source = course / "source" / ASSIGNMENT
    shutil.copytree(masters, source)
    config = Config()
    config.CourseDirectory.root = str(course)
    config.CourseDirectory.db_url = f"sqlite:///{course}/gradebook.db"
    api = NbGraderAPI(config=config)

    # Assign: nbgrader's own preprocessors check the metadata and take the solutions out.
    made = api.generate_assignment(ASSIGNMENT)
    assert made["success"], made.get("log", "") + made.get("error", "")
    released = course / "release" / ASSIGNMENT
    texts = {path.name: path.read_text(encoding="utf-8") for path in released.glob("*.ipynb")}

    # Autograde what every student handed in.
    for student in sorted(path.name for path in submissions.iterdir()):
        shutil.copytree(submissions / student, course / "submitted" / student / ASSIGNMENT)
        graded = api.autograde(ASSIGNMENT, student)
        assert graded["success"], graded.get("log", "") + graded.get("error", "")

    # Export: the table that goes to the office.
    grades = course / "grades.csv"
    with Gradebook(config.CourseDirectory.db_url) as gradebook:
        CsvExportPlugin(to=str(grades)).export(gradebook)
    with grades.open(encoding="utf-8", newline="") as table:
        scores = {
            row["student_id"]: [float(row["score"]), float(row["max_score"])]
            for row in csv.DictReader(table)
        }
    print(json.dumps({"released": texts, "scores": scores}))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
