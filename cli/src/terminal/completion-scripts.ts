/**
 * `rookery completion bash|zsh|fish`: a script that completes commands and options in these shells,
 * made of the commands themselves.
 */
import type { Command } from 'commander';

type ShellName = 'bash' | 'zsh' | 'fish';

interface Known {
  /** The words that lead there: '' for rookery itself, `acl`, `acl get`. */
  readonly path: string;
  readonly commands: readonly Command[];
  readonly options: readonly string[];
}

export function completionScript(program: Command, shell: ShellName): string {
  const known = knownOf(program, '');
  if (shell === 'fish') return fishScript(known);
  const bash = bashScript(known);
  if (shell === 'bash') return bash;
  return `#compdef rookery\nautoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

function knownOf(command: Command, path: string): Known[] {
  const options = command.options.flatMap(({ long }) => (typeof long === 'string' ? [long] : []));
  const below = command.commands.flatMap((child) => {
    return knownOf(child, path === '' ? child.name() : `${path} ${child.name()}`);
  });
  return [{ path, commands: command.commands, options: [...options, '--help'] }, ...below];
}

/** Words are looked up from the longest path that the line begins with. */
function bashScript(known: readonly Known[]): string {
  const cases = known.map(({ path, commands, options }) => {
    const words = [...commands.map((command) => command.name()), ...options].join(' ');
    return `    '${path}') words='${words}' ;;`;
  });
  return `_rookery() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " $_rookery_paths " in
      *"|\${path:+$path }$word|"*) path="\${path:+$path }$word" ;;
      *) break ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  if [[ -z $words || ( $current != -* && $words == --* ) ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
_rookery_paths='|${known.map(({ path }) => path).join('|')}|'
complete -F _rookery rookery
`;
}

function fishScript(known: readonly Known[]): string {
  const lines = known.flatMap(({ path, commands, options }) => {
    const words = path.split(' ').filter((word) => word !== '');
    const condition =
      words.length === 0
        ? '__fish_use_subcommand'
        : words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    const start = `complete -c rookery -n '${condition}'`;
    return [
      ...commands.map((command) => {
        return `${start} -f -a ${command.name()} -d '${escaped(command.description())}'`;
      }),
      ...options.map((option) => `${start} -l ${option.slice(2)}`),
    ];
  });
  return `${lines.join('\n')}\n`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
