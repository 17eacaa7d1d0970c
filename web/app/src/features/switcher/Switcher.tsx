import { useSpaces, useStore } from '@majlis/client/react'
import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

import { rich, t } from '../../language/words.ts'
import { go, messagePath, spacePath } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Search } from '../../ui/icons.tsx'
import { brief } from '../../ui/time.ts'
import { rememberWords } from './foundWords.ts'
import { useFoundMessages, type FoundMessage } from './useFoundMessages.ts'

interface Result {
  key: string
  path: string
  title: ReactNode
  below: string
  detail: string
  onOpen?: () => void
}

/** Finds spaces at once and messages after a short pause in typing. */
export default function Switcher({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [active, setActive] = useState(0)
  const listId = useId()
  const { found: messages, hasMore, problem, more } = useFoundMessages(typed)
  const found = [...useFoundSpaces(typed), ...useResults(messages)]
  const chosen = Math.min(active, found.length - 1)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    // No implicit return: newer browsers return a promise, which React would take for a cleanup function.
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' })
  }, [chosen])

  const open = (each: Result | undefined) => {
    if (!each) return
    onClose()
    each.onOpen?.()
    go(each.path)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown') setActive(Math.min(chosen + 1, found.length - 1))
    else if (event.key === 'ArrowUp') setActive(Math.max(chosen - 1, 0))
    else if (event.key === 'Enter') open(found[chosen])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={t('Search spaces and messages')} hiddenTitle onClose={onClose} className="max-w-xl">
      <div className="sticky top-0 flex items-center gap-2.5 border-b border-line bg-paper-high px-4">
        <Search className="size-5 text-ink-soft" />
        <input
          autoFocus
          value={typed}
          role="combobox"
          aria-label={t('Search spaces and messages')}
          aria-expanded={found.length > 0}
          aria-controls={listId}
          aria-activedescendant={found[chosen] ? `${listId}-${chosen}` : undefined}
          placeholder={t('Search spaces and messages')}
          className="h-12 flex-1 bg-transparent outline-none"
          onChange={(event) => {
            setTyped(event.target.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul ref={list} id={listId} role="listbox" aria-label={t('Search results')} className="p-1.5">
        {found.map((each, n) => (
          <li
            key={each.key}
            id={`${listId}-${n}`}
            role="option"
            aria-selected={n === chosen}
            className="cursor-pointer rounded-md px-3 py-1.5 aria-selected:bg-hover"
            onPointerMove={() => setActive(n)}
            onClick={() => open(each)}
          >
            <span className="flex items-baseline gap-2">
              <bdi className="line-clamp-2 min-w-0 flex-1 text-along font-medium">{each.title}</bdi>
              <span className="ms-auto shrink-0 text-tiny text-ink-soft">{each.detail}</span>
            </span>
            {each.below && <bdi className="block truncate text-along text-small text-ink-soft">{each.below}</bdi>}
          </li>
        ))}
      </ul>
      {hasMore && <div className="px-3 pb-3"><Button onClick={() => void more().catch(() => {})}>{t('Show more results')}</Button></div>}
      {problem ? <p role="alert" className="px-4 pb-4 text-small text-bad">{problem}</p> : found.length === 0 && <p role="status" className="px-4 pb-4 text-small text-ink-soft">{t('No results')}</p>}
      <p className="border-t border-line px-4 py-2 text-tiny text-ink-soft">{rich('Narrow it down with {from}, {in}, {before} or “an exact phrase”', { from: <kbd dir="ltr" className="whitespace-nowrap">from:{t('Name')}</kbd>, in: <kbd dir="ltr" className="whitespace-nowrap">in:{t('Space')}</kbd>, before: <kbd dir="ltr" className="whitespace-nowrap">before:2026-11-18</kbd> })}</p>
    </Dialog>
  )
}

function useFoundSpaces(typed: string): Result[] {
  const wanted = typed.trim().toLocaleLowerCase()
  return useSpaces()
    .filter((space) => space.facts.name.toLocaleLowerCase().includes(wanted))
    .slice(0, 8)
    .map(({ facts }) => ({ key: facts.id, path: spacePath(facts.id), title: facts.name, below: facts.description, detail: t('Space') }))
}

/** A part of a text is not Markdown any more; the most common signs of it go. */
const withoutMarkup = (text: string): string => text.replace(/[|*`~#>]+|-{3,}/g, ' ').replace(/\s+/g, ' ')

/** The part of each message around the match, with the match marked. */
function useResults(found: readonly FoundMessage[]): Result[] {
  const store = useStore()
  return found.map(({ message, snippet }) => ({
    key: message.id,
    path: messagePath(message.spaceId, message.id),
    title: snippet.map((part, n) => (part.match ? <mark key={n} className="rounded-sm bg-mark text-ink">{part.text}</mark> : withoutMarkup(part.text))),
    below: t('{name} in {space}', { name: message.sender.name, space: store.state.spaces[message.spaceId]?.facts.name ?? t('a space') }),
    detail: brief(message.createdAt),
    onOpen: () => rememberWords(message.id, snippet.filter((part) => part.match).map((part) => part.text)),
  }))
}
