# Completes the names of halls.
_hallpass_halls() {
    local -a halls
    halls=(${(f)"$(hallpass list --names 2>/dev/null)"})
    compadd -- $halls
}

_hallpass() {