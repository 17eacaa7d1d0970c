import type { Member } from '@majlis/client'
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react'

import { mentionAt, suggestions } from './mentions.ts'

export type SuggestionState = ReturnType<typeof useSuggestions>

/** Completes a mention: the offered members, keyboard selection, and the changed text. */
export function useSuggestions(box: RefObject<HTMLTextAreaElement | null>, text: string, members: readonly Member[], me: string) {
  const listId = useId()
  const [caret, setCaret] = useState(0)
  const [active, setActive] = useState(0)
  const [closedAt, setClosedAt] = useState<number | null>(null)
  const placed = useRef<number | null>(null)
  const mention = mentionAt(text, caret)
  const open = mention !== null && mention.from !== closedAt
  const list = open ? suggestions(members, mention.typed, me) : []
  const chosen = Math.min(active, list.length - 1)
  const optionId = (n: number) => `${listId}-${n}`

  const choose = (member: Member, setText: (text: string) => void) => {
    if (!mention) return
    const before = `${text.slice(0, mention.from)}@${member.name} `
    setText(before + text.slice(caret))
    setActive(0)
    setCaret(before.length)
    placed.current = before.length
  }
  // In the same commit as the text: a frame later it would move the caret while the user is already typing on.
  useLayoutEffect(() => {
    if (placed.current === null) return
    box.current?.setSelectionRange(placed.current, placed.current)
    placed.current = null
  })

  /** Returns true if the list handled the key. */
  const onKeyDown = (event: KeyboardEvent, setText: (text: string) => void): boolean => {
    const member = list[chosen]
    if (!member) return false
    if (event.key === 'ArrowDown') setActive((chosen + 1) % list.length)
    else if (event.key === 'ArrowUp') setActive((chosen + list.length - 1) % list.length)
    else if (event.key === 'Enter' || event.key === 'Tab') choose(member, setText)
    else if (event.key === 'Escape') setClosedAt(mention?.from ?? null)
    else return false
    event.preventDefault()
    return true
  }

  return {
    list,
    listId,
    optionId,
    chosen,
    choose,
    onKeyDown,
    close: () => setClosedAt(mention?.from ?? null),
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
