from __future__ import annotations

import pytest

from harness.mangling import plain_name


@pytest.mark.parametrize(("mangled", "name"), [
    ("_Z1kPKfPfi", "k"),
    ("_Z1kILi256EEvPKfPfi", "k"),
    ("_ZN3foo3bar6kernelIfLi4EEEvPT_", "foo::bar::kernel"),
    ("_ZN34_INTERNAL_00000000_4_b_cu_adc1b2c37softmaxEPf", "softmax"),
    ("_ZN12_GLOBAL__N_15scaleEPKfPfi", "scale"),
    ("plain", "plain"),
    ("_Zoo", "_Zoo"),
])  # fmt: skip
def test_a_mangled_kernel_is_told_by_its_scopes_and_name(mangled: str, name: str) -> None:
    assert plain_name(mangled) == name
