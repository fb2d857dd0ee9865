
# Adds the names of halls to the completions above.
_hallpass_with_halls() {
    _hallpass "$@"
    local cur=${COMP_WORDS[COMP_CWORD]} location=() i
    case "${COMP_WORDS[1]}" in
        COMMANDS) ;;
        *) return 0 ;;
    esac
    [[ $cur == -* || $COMP_CWORD -lt 2 ]] && return 0
    # The word after an option that needs a value is that value, and not the name of a hall.
    case "${COMP_WORDS[COMP_CWORD - 1]}" in
        OPTIONS) return 0 ;;
    esac
    for ((i = 2; i < COMP_CWORD; i++)); do
        case "${COMP_WORDS[i]}" in
            --system) location=(--system) ;;
            --dir) location=(--dir "${COMP_WORDS[i + 1]}") ;;
            --on) return 0 ;;
        esac
    done
    local IFS=$'\n'
    COMPREPLY+=($(compgen -W "$(hallpass list --names "${location[@]}" 2>/dev/null)" -- "$cur"))
}
