import type { Command, Option } from 'commander'

/** Shells with a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const

/** One of {@link shells}. */
export type Shell = (typeof shells)[number]

// Each script calls the program, so it always knows the current commands. The answers are names of commands and options, so nothing is escaped.
const scripts: Readonly<Record<Shell, string>> = {
  bash: `_tallyman() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tallyman tallyman
`,
  zsh: `#compdef tallyman
_tallyman() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _tallyman tallyman
`,
  fish: `function __tallyman_complete
  set -l words (commandline -opc)
  $words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c tallyman -f -a '(__tallyman_complete)'
complete -c tallyman -F -n '__fish_seen_subcommand_from send'
`,
}

/** The script that a shell reads to complete `tallyman`. */
export const completionScript = (shell: Shell): string => scripts[shell]

const takesValue = (option: Option): boolean => option.required || option.optional

const listNames = (option: Option): string[] => [option.long, option.short].filter((name) => name !== undefined && name !== null)

const listVisible = (command: Command): readonly Command[] => command.createHelp().visibleCommands(command)

/** Completions of the last of these words, which may be empty. `resources`: names of the resources that can be synced. */
export const listCompletions = (program: Command, words: readonly string[], resources: readonly string[]): readonly string[] => {
  const last = words.at(-1) ?? ''
  let command = program
  let argumentCount = 0
  let awaiting: Option | null = null
  for (const word of words.slice(0, -1)) {
    if (awaiting !== null) {
      awaiting = null
      continue
    }
    const option = command.options.find((one) => listNames(one).includes(word))
    if (option !== undefined) {
      awaiting = takesValue(option) ? option : null
      continue
    }
    if (word.startsWith('-')) continue
    const next = listVisible(command).find((one) => one.name() === word)
    if (next === undefined) argumentCount += 1
    else {
      command = next
      argumentCount = 0
    }
  }
  const matches = (text: string): boolean => text.startsWith(last)
  if (awaiting !== null) return (awaiting.argChoices ?? []).filter(matches)
  if (last.startsWith('-')) return [...command.options.flatMap((one) => one.long ?? []), '--help'].filter(matches)
  const argument = command.registeredArguments[argumentCount]
  const values = argument?.argChoices ?? (argument?.name() === 'resource' ? resources : [])
  return [...listVisible(command).map((one) => one.name()), ...values].filter(matches)
}
