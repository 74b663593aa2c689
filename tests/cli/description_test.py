"""The manual and the shell completions, which the command writes itself, contain all commands and flags and work."""
import re
import shutil
import subprocess

import pytest
from command import flymc
from help_test import COMMANDS


def flags_of(command, folder):
    return re.findall(r"^  .*?(--[a-z0-9-]+)", flymc(command, "--help", folder=folder).split("Example")[0], re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("shell")
    for shell in ("bash", "zsh", "fish"):
        (out / f"completions.{shell}").write_text(flymc("completions", shell, folder=out))
    (out / "a table.csv").write_text("x,y\n")
    (out / "a run").mkdir()
    return out


def by_bash(folder, *words):
    """The words that bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in words)
    script = (f"source completions.bash; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
              'compopt() { :; }; _flymc; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


def by_fish(folder, *words):
    script = f"source completions.fish; complete -C '{' '.join(words)}'"
    done = subprocess.run(["fish", "--no-config", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    return [line.split("\t")[0].replace("\\ ", " ") for line in done.stdout.split("\n")[:-1]]


CASES = {
    ("flymc", "su"): ["summary"],
    ("flymc", "--ver"): ["--version"],
    ("flymc", "fit", "--target"): ["--target", "--target-ess"],
    ("flymc", "fit", "a table.csv", "--missing", ""): ["error", "drop"],
    ("flymc", "fit", "--family", "negative"): ["negative_binomial"],
    ("flymc", "predict", "--kind", "t"): ["target"],
    ("flymc", "fit", "--target", ""): [""],
    ("flymc", "fit", "a"): ["a run", "a table.csv"],
    ("flymc", "summary", "a"): ["a run"],
    ("flymc", "summary", "--ratios", "a"): ["a run"],
    ("flymc", "fit", "--config", "a"): ["a run", "a table.csv"],
}


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_bash_offers(folder, words):
    assert sorted(by_bash(folder, *words)) == sorted(CASES[words])


def test_bash_offers_values_after_an_equals_sign(folder):
    assert by_bash(folder, "flymc", "fit", "--missing", "=", "d") == ["drop"]
    assert by_bash(folder, "flymc", "fit", "--missing", "=") == ["error", "drop"]


def test_bash_offers_every_command_and_flag_that_the_help_shows(folder):
    assert set(COMMANDS) < set(by_bash(folder, "flymc", ""))
    for command in COMMANDS:
        offered = by_bash(folder, "flymc", command, "-")
        assert [flag for flag in flags_of(command, folder) if flag not in offered] == []


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish")
@pytest.mark.parametrize("words", [case for case in CASES if " " not in case[-2] and case[-1]], ids=" ".join)
def test_fish_offers(folder, words):
    offered = [word.rstrip("/") for word in by_fish(folder, *(word.replace(" ", "\\ ") for word in words))]
    assert sorted(offered) == sorted(CASES[words])


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
def test_zsh_reads_its_completions(folder):
    subprocess.run(["zsh", "-f", "-n", "completions.zsh"], cwd=folder, check=True)


def test_other_shells_are_refused(tmp_path):
    text = flymc("completions", "tcsh", folder=tmp_path, expect=1, both=True)
    assert "'tcsh'" in text and "bash, zsh and fish" in text


def test_manual_has_every_command_and_flag(tmp_path):
    page = flymc("manual", folder=tmp_path).replace("\\-", "-")
    for command in COMMANDS:
        section = page.split(f".SS flymc {command}\n")[1].split("\n.S")[0]
        for flag in flags_of(command, tmp_path):
            assert f"\\fB{flag}\\fR" in section, (command, flag)


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
def test_manual_is_set_without_warnings(tmp_path):
    page = flymc("manual", folder=tmp_path)
    done = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww"], input=page, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "--formula 'Y ~ A + B'" in text and "I(x^2)" in text
