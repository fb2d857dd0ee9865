"""The fixture ``hallpass_slot``."""

import pytest
from conftest import DEADLINE

import hallpass_slots


def test_the_fixture_holds_a_slot_while_the_test_runs(pytester):
    pytester.makepyfile(
        """
        from hallpass_slots import Hall

        def test_default(hallpass_slot):
            assert hallpass_slot == 0 and Hall("pytest").available == 0

        def test_it_was_freed():
            assert Hall("pytest").available == 1
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_the_hall_is_configured_by_marker_option_or_file(pytester):
    pytester.makeini("[pytest]\nhallpass_hall = licence\nhallpass_slots = 3\n")
    pytester.makepyfile(
        """
        import pytest
        from hallpass_slots import Hall

        @pytest.mark.hallpass("gpu", 2, timeout=30)
        def test_marker(hallpass_slot):
            assert Hall("gpu", 2).available == 1

        def test_file(hallpass_slot):
            assert Hall("licence", 3).available == 2
        """
    )
    pytester.runpytest_subprocess("--strict-markers").assert_outcomes(passed=2)
    pytester.makepyfile(
        """
        from hallpass_slots import Hall

        def test_option(hallpass_slot):
            assert Hall("device", 5).available == 4
        """
    )
    options = ("--hallpass-hall=device", "--hallpass-slots=5")
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=1)


def test_workers_of_xdist_share_the_slots(pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(
        """
        import os, pathlib, time
        import pytest

        @pytest.mark.hallpass("gpu", 2)
        @pytest.mark.parametrize("number", range(12))
        def test_device(hallpass_slot, number):
            taken = pathlib.Path(os.environ["HALLPASS_DIR"]) / f"slot-{hallpass_slot}"
            taken.touch(exist_ok=False)
            time.sleep(0.02)
            taken.unlink()
        """
    )
    pytester.runpytest_subprocess("-n", "4", "-p", "xdist").assert_outcomes(passed=12)


def test_the_marker_takes_its_time_limit_by_position_too(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.hallpass("gpu", 1, 0.05)
        def test_marker(hallpass_slot):
            pass
        """
    )
    with hallpass_slots.Hall("gpu", 1).acquire():
        pytester.runpytest_subprocess(timeout=DEADLINE).assert_outcomes(errors=1)


def test_arguments_that_no_hall_can_have_fail_the_test(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.hallpass("gpu", slot=4)
        def test_misspelt(hallpass_slot):
            pass

        @pytest.mark.hallpass("gpu", 0)
        def test_no_slots(hallpass_slot):
            pass

        def test_option(hallpass_slot):
            pass
        """
    )
    result = pytester.runpytest_subprocess("--hallpass-slots=0")
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["*TypeError*unexpected keyword argument 'slot'*", "*BadArgument*", "*BadArgument*"])
