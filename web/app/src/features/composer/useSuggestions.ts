import type { Member } from '@majlis/client'
import { useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react'

import { foundCommands, type Command } from './commands.ts'
import { suggestMembers } from './suggestMembers.ts'
import { typedAt, type Typed } from './typed.ts'

export type SuggestionState = ReturnType<typeof useSuggestions>

export interface Suggestion {
  key: string
  /** What takes the place of the typed text. */
  insert: string
  member?: Member
  command?: Command
  emoji?: { sign: string; name: string }
}

interface Props {
  box: RefObject<HTMLTextAreaElement | null>
  text: string
  members: readonly Member[]
  me: string
  /** False while a message is edited. */
  commands: boolean
  onCommand: (command: Command) => void
}

const EMOJI_SHOWN = 8

/** Completes mentions, emoji and commands: what is offered, keyboard selection, and the changed text. */
export function useSuggestions({ box, text, members, me, commands, onCommand }: Props) {
  const listId = useId()
  const [caret, setCaret] = useState(0)
  const [active, setActive] = useState(0)
  const [closedAt, setClosedAt] = useState<number | null>(null)
  const placed = useRef<[number, number] | null>(null)
  const typed = typedAt(text, caret)
  const emoji = useEmoji(typed)
  const open = typed !== null && typed.from !== closedAt && (commands || typed.kind !== 'command')
  const list = !open ? [] : typed.kind === 'mention' ? suggestMembers(members, typed.text, me).map(mention) : typed.kind === 'command' ? foundCommands(typed.text).map(command) : emoji
  const chosen = Math.min(active, list.length - 1)
  const optionId = (n: number) => `${listId}-${n}`

  /** Sets the text and then the selection. */
  const place = (changed: string, start: number, end: number, setText: (text: string) => void) => {
    setText(changed)
    setCaret(end)
    placed.current = [start, end]
  }
  const choose = (suggestion: Suggestion, setText: (text: string) => void) => {
    if (!typed) return
    setActive(0)
    if (suggestion.command && !suggestion.command.argument) {
      setText('')
      return onCommand(suggestion.command)
    }
    const before = text.slice(0, typed.from) + suggestion.insert
    place(before + text.slice(caret), before.length, before.length, setText)
  }
  // In the same commit as the text: a frame later it would move the caret while the user is already typing on.
  useLayoutEffect(() => {
    if (placed.current === null) return
    box.current?.setSelectionRange(...placed.current)
    placed.current = null
  })

  /** Returns true if the list handled the key. */
  const onKeyDown = (event: KeyboardEvent, setText: (text: string) => void): boolean => {
    const suggestion = list[chosen]
    if (!suggestion) return false
    if (event.key === 'ArrowDown') setActive((chosen + 1) % list.length)
    else if (event.key === 'ArrowUp') setActive((chosen + list.length - 1) % list.length)
    else if (event.key === 'Enter' || event.key === 'Tab') choose(suggestion, setText)
    else if (event.key === 'Escape') setClosedAt(typed?.from ?? null)
    else return false
    event.preventDefault()
    return true
  }

  return {
    list,
    kind: typed?.kind ?? 'mention',
    listId,
    optionId,
    chosen,
    choose,
    place,
    onKeyDown,
    close: () => setClosedAt(typed?.from ?? null),
    onSelect: () => {
      setCaret(box.current?.selectionStart ?? 0)
      setClosedAt(null)
    },
    attributes: {
      'aria-autocomplete': 'list',
      'aria-haspopup': 'listbox',
      'aria-controls': list.length > 0 ? listId : undefined,
      'aria-activedescendant': list.length > 0 ? optionId(chosen) : undefined,
    } as const,
  }
}

const mention = (member: Member): Suggestion => ({ key: member.id, insert: `@${member.name} `, member })
const command = (each: Command): Suggestion => ({ key: each.name, insert: `/${each.name} `, command: each })

/** Loads the emoji when the first one is typed. */
function useEmoji(typed: Typed | null): Suggestion[] {
  const [data, setData] = useState<typeof import('./emoji.ts') | null>(null)
  const wanted = typed?.kind === 'emoji' ? typed.text : null
  const missing = wanted !== null && data === null
  useEffect(() => {
    // Without the network the name stays as it was typed.
    if (missing) import('./emoji.ts').then(setData, () => {})
  }, [missing])
  if (wanted === null || data === null) return []
  return data.foundEmoji(wanted, EMOJI_SHOWN).map((emoji) => ({ key: emoji.name, insert: `${emoji.sign} `, emoji }))
}
