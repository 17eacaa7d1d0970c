import { msg, t } from '../../language/words.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { TYPES } from '../spaces/roles.ts'
import type { Suggestion, SuggestionState } from './useSuggestions.ts'

const LABELS = { mention: msg('Members to mention'), emoji: msg('Emoji'), command: msg('Commands') }

export function Suggestions({ state, onChoose }: { state: SuggestionState; onChoose: (suggestion: Suggestion) => void }) {
  if (state.list.length === 0) return null
  return (
    <ul
      id={state.listId}
      role="listbox"
      aria-label={t(LABELS[state.kind])}
      className={`absolute bottom-full start-3 z-10 mb-1 max-h-[70dvh] max-w-[calc(100%-1.5rem)] animate-rise overflow-y-auto rounded-lg border border-line bg-paper-high p-1 shadow-high md:start-6 ${state.kind === 'command' ? 'w-96' : 'w-72'}`}
    >
      {state.list.map((suggestion, n) => (
        <li
          key={suggestion.key}
          id={state.optionId(n)}
          role="option"
          aria-selected={n === state.chosen}
          ref={(row) => {
            if (n === state.chosen) row?.scrollIntoView({ block: 'nearest' })
          }}
          className="flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 aria-selected:bg-hover"
          onPointerDown={(event) => {
            event.preventDefault() // keep the focus in the text
            onChoose(suggestion)
          }}
        >
          <Content suggestion={suggestion} />
        </li>
      ))}
    </ul>
  )
}

function Content({ suggestion: { member, command, emoji } }: { suggestion: Suggestion }) {
  if (command) {
    return (
      <>
        <span className="shrink-0 font-medium"><bdi dir="ltr">/{command.name}</bdi>{command.argument && <span className="font-normal text-ink-soft"> {t(command.argument)}</span>}</span>
        <span className="ms-auto truncate text-small text-ink-soft">{t(command.about)}</span>
      </>
    )
  }
  if (emoji) return <><span className="w-6 text-center text-large leading-tight">{emoji.sign}</span><span className="truncate text-small">{emoji.name.replaceAll('_', ' ')}</span></>
  if (!member) return null
  return (
    <>
      <Avatar id={member.id} name={member.name} type={member.type} size="small" />
      <bdi className="truncate">{member.name}</bdi>
      {member.type !== 'human' && <span className="ms-auto text-tiny text-ink-soft">{t(TYPES[member.type])}</span>}
    </>
  )
}
