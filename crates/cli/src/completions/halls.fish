# Completes the names of halls.
complete -c hallpass -n "__fish_seen_subcommand_from COMMANDS" -f -a "(hallpass list --names 2>/dev/null)" -d hall
