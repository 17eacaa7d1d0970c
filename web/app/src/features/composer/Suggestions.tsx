import type { Member } from '@majlis/client'

import { Avatar } from '../../ui/Avatar.tsx'
import { capitalize } from '../../ui/format.ts'
import type { SuggestionState } from './useSuggestions.ts'

export function Suggestions({ state, onChoose }: { state: SuggestionState; onChoose: (member: Member) => void }) {
  if (state.list.length === 0) return null
  return (
    <ul
      id={state.listId}
      role="listbox"
      aria-label="Members to mention"
      className="absolute bottom-full left-3 z-10 mb-1 w-72 max-w-[calc(100%-1.5rem)] animate-rise rounded-lg border border-line bg-paper-high p-1 shadow-high md:left-6"
    >
      {state.list.map((member, n) => (
        <li
          key={member.id}
          id={state.optionId(n)}
          role="option"
          aria-selected={n === state.chosen}
          className="flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 aria-selected:bg-hover"
          onPointerDown={(event) => {
            event.preventDefault() // keep the focus in the text
            onChoose(member)
          }}
        >
          <Avatar id={member.id} name={member.name} type={member.type} size="small" />
          <span className="truncate">{member.name}</span>
          {member.type !== 'human' && <span className="ml-auto text-tiny text-ink-soft">{capitalize(member.type)}</span>}
        </li>
      ))}
    </ul>
  )
}
