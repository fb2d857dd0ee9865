# Completes the names of halls.
complete -c hallpass -n "__fish_seen_subcommand_from run status top reap resize rm cancel wait log jobserver" -f -a "(hallpass list --names 2>/dev/null)" -d hall
