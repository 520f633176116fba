import pytest

pytest.importorskip("jinja2", reason="pip install 'pytest-benchbench[html]'")


@pytest.mark.parametrize(
    ("arguments", "is_written"), [([], True), (["--bench-html=auto"], True), (["--bench-html=off"], False)]
)
def test_a_page_is_written_unless_it_is_switched_off(project, arguments, is_written):
    project.case("a")
    project.write()
    result = project.run("cases.jsonl", *arguments)
    assert result.ret == 0
    assert (project.path / "run" / "report.html").exists() is is_written
    assert ("report: run/report.html" in result.outlines) is is_written
    assert "report: run/report.md" in result.outlines


def test_another_value_is_wrong_use(project):
    project.case("a")
    project.write()
    result = project.run("cases.jsonl", "--bench-html=yes")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --bench-html=yes: expected auto or off"])
