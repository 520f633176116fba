"""``report.html`` at the end of a run: there with the extra ``html``, and never in the way of the run."""

import sys

import pytest


@pytest.fixture
def page(project):
    return project.path / "run" / "report.html"


def test_a_run_leaves_a_page_and_names_it(project, page, workers):
    project.cases("detected", "not_detected")
    result = project.run("cases.jsonl", workers=workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["report: run/report.html", "report: run/report.md"])
    text = page.read_text(encoding="utf-8")
    assert "1 of 2 rows is wrong or an error" in text
    assert "no picture" in text, "what no decoder takes for a picture costs its picture, and the page says so"


def test_a_run_without_the_extra_has_all_but_the_page(project, page):
    project.cases("detected")
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text() + "\nimport sys\nsys.modules['jinja2'] = None  # as if it were not installed\n")
    result = project.alone("cases.jsonl", "--bench-run-dir=run")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["report: run/report.md"])
    result.stdout.no_fnmatch_line("*report.html*")
    assert not page.exists()


def test_templates_are_not_imported_before_the_end(project, page):
    project.cases("detected")
    project.pytester.makepyfile(
        test_suite="""
        import sys
        import pytest

        @pytest.mark.cases(kind="watermark")
        def test_it(observe):
            observe().check()
            assert not {"jinja2", "markupsafe"} & set(sys.modules)
        """
    )
    result = project.alone("test_suite.py", "--manifest=cases.jsonl", "--bench-run-dir=run")
    assert result.ret == 0
    assert page.exists()


def test_a_page_that_cannot_be_made_is_a_warning(project, page, monkeypatch):
    from pytest_benchbench.reports.html import page as module

    project.cases("detected")
    monkeypatch.setattr(module, "verdict_of", lambda *_: 1 / 0)
    result = project.run("cases.jsonl")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warning: report.html cannot be made: division by zero", "report: run/report.md"])
    assert not page.exists()
    assert project.document("run.json")["exit_status"] == 0


def test_a_session_that_goes_on_without_the_extra_leaves_no_old_page(project, page, monkeypatch):
    project.cases("detected", "detected")
    assert project.run("cases.jsonl", "--deselect", "cases.jsonl::test_detection::toy::cat-02").ret == 0
    assert page.exists()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert project.resume("cases.jsonl").ret == 0
    assert not page.exists()
