import type { Message } from '@majlis/client'
import { useMajlis, useMe, useSpace, useStore } from '@majlis/client/react'
import { useEffect, useId, useLayoutEffect, useRef, useState, type ClipboardEvent, type KeyboardEvent } from 'react'

import { rich, t } from '../../language/words.ts'
import { IconButton } from '../../ui/Button.tsx'
import { Close, Letters, Send } from '../../ui/icons.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { loadItem, removeItem, saveItem } from '../../ui/storage.ts'
import { toast } from '../../ui/toast.tsx'
import { AttachButton } from '../files/AttachButton.tsx'
import { AttachmentList } from '../files/AttachmentList.tsx'
import { restoreFiles, takeFiles, useAttachments } from '../files/attachments.ts'
import { useAttach } from '../files/useAttach.ts'
import { lineOf } from '../markdown/plainText.ts'
import { commandOf, type Command } from './commands.ts'
import { draftOf, saveDraft } from './drafts.ts'
import { onEditAgain } from './editAgain.ts'
import { onEditMessage } from './editMessage.ts'
import { EmojiButton } from './EmojiButton.tsx'
import { Suggestions } from './Suggestions.tsx'
import { isOffered } from './useOpenQuestion.ts'
import { useSuggestions } from './useSuggestions.ts'
import { useTellTyping } from './useTellTyping.ts'

const FormatBar = lazyPart(() => import('./FormatBar.tsx'))
const FORMATS_SHOWN = 'majlis.formatting'

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
  const attachments = useAttachments(me?.id ?? '', spaceId)
  const attach = useAttach(spaceId)
  const tellTyping = useTellTyping(spaceId)
  const [editing, setEditing] = useState<Message | null>(null)
  const [formats, setFormats] = useState(() => loadItem(FORMATS_SHOWN) !== null)
  const runCommand = (command: Command, argument = '') => {
    if (space) void Promise.resolve(command.run(store, space, argument)).catch((error: Error) => toast(error.message))
  }
  const suggestions = useSuggestions({ box, text, members: space?.members ?? [], me: me?.id ?? '', commands: editing === null, onCommand: runCommand })

  const startEdit = (message: Message) => {
    setEditing(message)
    setText(message.text)
    box.current?.focus()
  }
  const stopEdit = () => {
    setEditing(null)
    setText(draftOf(me?.id ?? '', spaceId))
  }
  useEffect(() => onEditMessage(spaceId, startEdit), [spaceId])

  const author = me?.id
  useEffect(() => {
    if (author && !editing) saveDraft(author, spaceId, text)
  }, [author, spaceId, text, editing])
  useLayoutEffect(() => grow(box.current), [text])
  useEffect(() => {
    if (replyTo && !isOffered(replyTo)) box.current?.focus()
  }, [replyTo])
  useEffect(() => {
    // Not on touch screens, where the keyboard would cover the messages.
    if (!touch()) box.current?.focus()
  }, [])
  useEffect(
    () =>
      onEditAgain(spaceId, (refused) => {
        setText((typed) => (typed ? `${refused.text}\n${typed}` : refused.text))
        if (author && refused.files) restoreFiles(author, spaceId, refused.files)
        store.outbox.discard(spaceId, refused.clientId)
        box.current?.focus()
      }),
    [store, spaceId, author],
  )

  if (!space || !me) return null
  const role = space.members.find((member) => member.id === me.id)?.role
  if (role === 'viewer') return <p className="py-3 text-center text-small text-ink-soft">{t('You’re a viewer in this space. You can read messages but not send them.')}</p>

  const uploaded = attachments.every((each) => each.status === 'done')
  const ready = editing ? text.trim() !== '' : uploaded && (text.trim() !== '' || attachments.length > 0)
  const addFiles = (files: File[]) => {
    attach(files)
    box.current?.focus()
  }
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files]
    // Office programs add a picture of the text that was copied.
    if (files.length === 0 || editing || event.clipboardData.types.includes('text/plain')) return
    event.preventDefault()
    addFiles(files)
  }
  const send = () => {
    const trimmed = text.trim()
    if (!ready) {
      if (!uploaded) toast(t('You can send the message when its files are uploaded'))
      return
    }
    if (editing) {
      store.client.messages.edit(editing.id, trimmed).then(stopEdit, (error: Error) => toast(error.message))
      return
    }
    const typed = attachments.length === 0 ? commandOf(trimmed) : null
    if (typed) {
      setText('')
      return runCommand(typed.command, typed.argument)
    }
    const files = takeFiles(me.id, spaceId)
    store.outbox.send(spaceId, { text: trimmed, ...(replyTo ? { replyTo: replyTo.id } : {}), ...(files.length > 0 ? { files } : {}) })
    setText('')
    onClearReply()
    box.current?.focus()
  }
  /** At the caret, instead of a selection. */
  const insert = (sign: string) => {
    const { selectionStart: start, selectionEnd: end } = box.current!
    suggestions.place(text.slice(0, start) + sign + text.slice(end), start + sign.length, start + sign.length, setText)
    box.current?.focus()
  }
  const toggleFormats = () => {
    if (formats) removeItem(FORMATS_SHOWN)
    else saveItem(FORMATS_SHOWN, 'shown')
    setFormats(!formats)
    box.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (suggestions.onKeyDown(event, setText)) return
    // A touch keyboard has no Shift+Enter: there Enter starts a new line, and the button sends.
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || (!event.shiftKey && !touch()))) {
      event.preventDefault()
      send()
    } else if (event.key === 'Escape' && editing) stopEdit()
    else if (event.key === 'Escape' && replyTo) onClearReply()
    else if (event.key === 'ArrowUp' && !text && !editing) {
      const last = space.history?.findLast((message) => message.sender.id === me.id && message.kind === 'text' && !message.deletedAt)
      if (!last) return
      event.preventDefault()
      startEdit(last)
    }
  }

  return (
    <form
      className="relative mx-auto w-full max-w-messages px-3 pb-3 md:px-6 md:pb-5"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Suggestions state={suggestions} onChoose={(suggestion) => suggestions.choose(suggestion, setText)} />
      <div className="rounded-lg border border-line-strong bg-paper-high shadow-low transition-shadow focus-within:border-ink-soft focus-within:shadow-high">
        {editing && (
          <div className="flex items-center gap-2 border-b border-line py-1 pe-1 ps-4 text-small">
            <p className="min-w-0 flex-1 truncate text-ink-soft">{t('Editing your message')}</p>
            <IconButton label={t('Cancel editing')} className="size-7" onClick={stopEdit}><Close className="size-4" /></IconButton>
          </div>
        )}
        {replyTo && !editing && (
          <div className="flex items-center gap-2 border-b border-line py-1 pe-1 ps-4 text-small">
            <p className="flex min-w-0 flex-1 gap-1.5 text-ink-soft">
              <span className="max-w-1/2 shrink-0 truncate">{rich('Replying to {name}:', { name: <bdi className="font-semibold text-ink">{replyTo.sender.name}</bdi> })}</span>{' '}
              <bdi className="truncate">{lineOf(replyTo)}</bdi>
            </p>
            <IconButton label={t('Cancel reply')} className="size-7" onClick={onClearReply}><Close className="size-4" /></IconButton>
          </div>
        )}
        {!editing && <AttachmentList spaceId={spaceId} attachments={attachments} />}
        {formats && (
          <FormatBar
            box={box}
            text={text}
            onChange={(changed, start, end) => {
              suggestions.place(changed, start, end, setText)
              box.current?.focus()
            }}
          />
        )}
        <div className="flex items-end gap-1 p-1.5">
          {!editing && <AttachButton onFiles={addFiles} />}
          <textarea
            ref={box}
            rows={1}
            value={text}
            aria-label={t('Message {name}', { name: space.facts.name })}
            aria-describedby={hint}
            {...suggestions.attributes}
            placeholder={t('Message {name}', { name: space.facts.name })}
            className="max-h-[40vh] min-h-9 flex-1 resize-none bg-transparent px-2.5 py-1.5 outline-none"
            onChange={(event) => {
              setText(event.target.value)
              if (event.target.value && !editing) tellTyping()
              suggestions.onSelect()
            }}
            onSelect={suggestions.onSelect}
            onKeyDown={onKeyDown}
            onBlur={suggestions.close}
            onPaste={onPaste}
          />
          <IconButton label={formats ? t('Hide formatting') : t('Show formatting')} aria-pressed={formats} className="hidden md:grid" onClick={toggleFormats}><Letters /></IconButton>
          <EmojiButton label={t('Insert emoji')} onChoose={insert} />
          <button
            type="submit"
            aria-label={t('Send')}
            disabled={!ready}
            className="grid size-9 shrink-0 place-items-center rounded-md bg-warm text-warm-ink transition-opacity disabled:opacity-35"
          >
            <Send />
          </button>
        </div>
      </div>
      <p id={hint} className="unseen">
        {t('{keys}, @ to mention a member, / for commands, : for emoji.', { keys: touch() ? t('Press Send to send') : t('Press Enter to send, Shift+Enter for a new line') })}{offline ? ` ${t('You’re offline. Messages are sent when you’re back online.')}` : ''}
      </p>
    </form>
  )
}

const touch = (): boolean => matchMedia('(pointer: coarse)').matches

function grow(box: HTMLTextAreaElement | null): void {
  if (!box) return
  box.style.height = 'auto'
  box.style.height = `${box.scrollHeight}px`
}
