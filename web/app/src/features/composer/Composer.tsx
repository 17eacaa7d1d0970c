import type { Message } from '@majlis/client'
import { useMajlis, useMe, useSpace, useStore } from '@majlis/client/react'
import { useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'

import { IconButton } from '../../ui/Button.tsx'
import { Close, Send } from '../../ui/icons.tsx'
import { plainText } from '../markdown/plainText.ts'
import { draftOf, saveDraft } from './drafts.ts'
import { mentioned } from './mentions.ts'
import { Suggestions } from './Suggestions.tsx'
import { useSuggestions } from './useSuggestions.ts'

interface Props {
  spaceId: string
  replyTo: Message | null
  onClearReply: () => void
}

export function Composer({ spaceId, replyTo, onClearReply }: Props) {
  const store = useStore()
  const space = useSpace(spaceId)
  const me = useMe()
  const offline = useMajlis((state) => state.connection === 'lost')
  const [text, setText] = useState(() => draftOf(me?.id ?? '', spaceId))
  const box = useRef<HTMLTextAreaElement>(null)
  const hint = useId()
  const suggestions = useSuggestions(box, text, space?.members ?? [], me?.id ?? '')

  const author = me?.id
  useEffect(() => {
    if (author) saveDraft(author, spaceId, text)
  }, [author, spaceId, text])
  useLayoutEffect(() => grow(box.current), [text])
  useEffect(() => {
    if (replyTo) box.current?.focus()
  }, [replyTo])
  useEffect(() => {
    // Not on touch screens, where the keyboard would cover the messages.
    if (matchMedia('(pointer: fine)').matches) box.current?.focus()
  }, [])

  if (!space || !me) return null
  const role = space.members.find((member) => member.id === me.id)?.role
  if (role === 'viewer') return <p className="py-3 text-center text-small text-ink-soft">You’re a viewer in this space. You can read messages but not send them.</p>

  const send = () => {
    const trimmed = text.trim()
    if (!trimmed) return
    const mentions = mentioned(trimmed, space.members)
    store.outbox.send(spaceId, { text: trimmed, ...(replyTo ? { replyTo: replyTo.id } : {}), ...(mentions.length ? { mentions } : {}) })
    setText('')
    onClearReply()
    box.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (suggestions.onKeyDown(event, setText)) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      send()
    } else if (event.key === 'Escape' && replyTo) onClearReply()
  }

  return (
    <form
      className="relative mx-auto w-full max-w-column px-3 pb-3 md:px-6 md:pb-5"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Suggestions state={suggestions} onChoose={(member) => suggestions.choose(member, setText)} />
      <div className="rounded-lg border border-line-strong bg-paper-high shadow-low transition-shadow focus-within:border-warm focus-within:shadow-high">
        {replyTo && (
          <div className="flex items-center gap-2 border-b border-line py-1 pr-1 pl-4 text-small">
            <p className="min-w-0 flex-1 truncate text-ink-soft">
              Replying to <b className="font-semibold text-ink">{replyTo.sender.name}</b>: {plainText(replyTo.text)}
            </p>
            <IconButton label="Cancel reply" className="size-7" onClick={onClearReply}><Close className="size-4" /></IconButton>
          </div>
        )}
        <div className="flex items-end gap-1 p-1.5">
          <textarea
            ref={box}
            rows={1}
            value={text}
            aria-label={`Message ${space.facts.name}`}
            aria-describedby={hint}
            {...suggestions.attributes}
            placeholder={`Message ${space.facts.name}`}
            className="max-h-[40vh] min-h-9 flex-1 resize-none bg-transparent px-2.5 py-1.5 outline-none"
            onChange={(event) => {
              setText(event.target.value)
              suggestions.onSelect()
            }}
            onSelect={suggestions.onSelect}
            onKeyDown={onKeyDown}
            onBlur={suggestions.close}
          />
          <button
            type="submit"
            aria-label="Send"
            disabled={!text.trim()}
            className="grid size-9 shrink-0 place-items-center rounded-md bg-warm text-warm-ink transition-opacity disabled:opacity-35"
          >
            <Send />
          </button>
        </div>
      </div>
      <p id={hint} className="unseen">
        Press Enter to send, Shift+Enter for a new line, @ to mention a member.{offline ? ' You’re offline. Messages are sent when you’re back online.' : ''}
      </p>
    </form>
  )
}

function grow(box: HTMLTextAreaElement | null): void {
  if (!box) return
  box.style.height = 'auto'
  box.style.height = `${box.scrollHeight}px`
}
