import type { History, Message } from '@majlis/client'
import { useMajlis, useMe, useStore } from '@majlis/client/react'
import { DropdownMenu, Popover } from 'radix-ui'
import { useState } from 'react'

import { addressOf, inspect, messagePath } from '../../router.ts'
import { editMessage } from '../composer/editMessage.ts'
import { EmojiButton } from '../composer/EmojiButton.tsx'
import { openDirect } from '../spaces/openDirect.ts'
import { useMayWrite } from '../spaces/useMayWrite.ts'
import { IconButton } from '../../ui/Button.tsx'
import { copyText } from '../../ui/copy.ts'
import { Again, Chat, Copy, Eye, LinkIcon, More, Pencil, Pin, Question, Receipt, Reply, Trash } from '../../ui/icons.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { toast } from '../../ui/toast.tsx'
import { deleteSoon } from './deletions.ts'

export const Deliveries = lazyPart(() => import('../inspector/Deliveries.tsx'))
const Why = lazyPart(() => import('../inspector/Why.tsx'))

type Panel = 'Read by' | 'Why'

const ITEM = 'flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 outline-none data-[highlighted]:bg-hover'
const PANEL = 'z-30 animate-rise rounded-lg border border-line bg-paper-high text-small shadow-high'

/** Visible while the message has the pointer or the focus. With a mouse beside the text, on a touch screen below it. */
export function MessageActions({ message, onReply }: { message: Message; onReply: (message: Message) => void }) {
  const [menu, setMenu] = useState(false)
  const [panel, setPanel] = useState<Panel | null>(null)
  const [picker, setPicker] = useState(false)
  const mayWrite = useMayWrite(message.spaceId)
  const react = useReact(message)
  const shown = menu || panel || picker ? '' : 'opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:hidden pointer-coarse:group-focus-within:flex'
  return (
    <div className={`flex h-6 w-21 shrink-0 items-center justify-end self-start pointer-coarse:h-8 pointer-coarse:w-full ${shown}`}>
      {mayWrite && <IconButton label="Reply" className="size-7 pointer-coarse:size-8" onClick={() => onReply(message)}><Reply className="size-4" /></IconButton>}
      {mayWrite && !message.deletedAt && <EmojiButton label="React" className="size-7 pointer-coarse:size-8" onChoose={react} onOpenChange={setPicker} />}
      <Popover.Root open={panel !== null} onOpenChange={(open) => !open && setPanel(null)}>
        <DropdownMenu.Root modal={false} open={menu} onOpenChange={setMenu}>
          <Popover.Anchor asChild>
            <DropdownMenu.Trigger asChild>
              <IconButton label="More actions" className="size-7 pointer-coarse:size-8"><More className="size-4" /></IconButton>
            </DropdownMenu.Trigger>
          </Popover.Anchor>
          <DropdownMenu.Portal>
            <DropdownMenu.Content align="end" sideOffset={4} collisionPadding={12} aria-label="Message actions" className={`${PANEL} min-w-44 p-1.5`} onCloseAutoFocus={(event) => panel && event.preventDefault()}>
              <Items message={message} onPanel={setPanel} />
            </DropdownMenu.Content>
          </DropdownMenu.Portal>
        </DropdownMenu.Root>
        <Popover.Portal>
          <Popover.Content align="end" sideOffset={6} collisionPadding={12} aria-label={panel ?? ''} className={`${PANEL} w-72 p-3`}>
            {panel === 'Why' ? <Why messageId={message.id} /> : <Deliveries messageId={message.id} mayWrite={mayWrite} />}
          </Popover.Content>
        </Popover.Portal>
      </Popover.Root>
    </div>
  )
}

const AT_HAND = ['👍', '❤️', '🎉', '👀', '✅', '🙏']

function useReact(message: Message): (emoji: string) => void {
  const { client } = useStore()
  return (emoji) => void client.messages.react(message.id, emoji).catch((error: Error) => toast(error.message))
}

/** A small set at hand, in one row. */
function Picker({ message }: { message: Message }) {
  const react = useReact(message)
  return (
    <DropdownMenu.Group aria-label="React" className="flex">
      {AT_HAND.map((emoji) => (
        <DropdownMenu.Item key={emoji} aria-label={`React with ${emoji}`} className="cursor-pointer rounded-md p-1.5 outline-none data-[highlighted]:bg-hover" onSelect={() => react(emoji)}>{emoji}</DropdownMenu.Item>
      ))}
    </DropdownMenu.Group>
  )
}

function Items({ message, onPanel }: { message: Message; onPanel: (panel: Panel) => void }) {
  const { runId, sender } = message
  const me = useMe()!
  const store = useStore()
  const [asked, setAsked] = useState(false)
  const mayWrite = useMayWrite(message.spaceId)
  const isAdmin = useMajlis((state) => state.spaces[message.spaceId]?.members.find((member) => member.id === me.id)?.role === 'admin')
  const own = sender.id === me.id
  const changeable = message.kind === 'text' && !message.deletedAt
  const remove = (event: Event) => {
    if (asked) return deleteSoon(store, message)
    event.preventDefault()
    setAsked(true)
  }
  const regenerate = () => void store.client.messages.regenerate(message.id).catch((error: Error) => toast(error.message))
  const pin = () => void (message.pinned ? store.client.messages.unpin(message.id) : store.client.messages.pin(message.id)).catch((error: Error) => toast(error.message))
  const direct = useMajlis((state) => state.spaces[message.spaceId]?.facts.direct)
  const answersMe = useMajlis((state) => isAnswerTo(me.id, message, state.spaces[message.spaceId]?.history ?? []))
  const copy = (text: string, done: string) => void copyText(text).then(() => toast(done), () => toast('Copying failed'))
  return (
    <>
      {mayWrite && !message.deletedAt && <Picker message={message} />}
      {own && mayWrite && changeable && <DropdownMenu.Item className={ITEM} onSelect={() => editMessage(message)}><Pencil className="size-4" />Edit</DropdownMenu.Item>}
      {sender.type === 'agent' && runId && mayWrite && changeable && (answersMe || isAdmin) && <DropdownMenu.Item className={ITEM} onSelect={regenerate}><Again className="size-4" />Regenerate</DropdownMenu.Item>}
      {(own || isAdmin) && changeable && <DropdownMenu.Item className={`${ITEM} text-bad`} onSelect={remove}><Trash className="size-4" />{asked ? 'Yes, delete message' : 'Delete'}</DropdownMenu.Item>}
      {mayWrite && changeable && <DropdownMenu.Item className={ITEM} onSelect={pin}><Pin className="size-4" />{message.pinned ? 'Unpin' : 'Pin'}</DropdownMenu.Item>}
      {message.text && <DropdownMenu.Item className={ITEM} onSelect={() => copy(message.text, 'Text copied')}><Copy className="size-4" />Copy text</DropdownMenu.Item>}
      <DropdownMenu.Item className={ITEM} onSelect={() => copy(addressOf(messagePath(message.spaceId, message.id)), 'Link copied')}><LinkIcon className="size-4" />Copy link</DropdownMenu.Item>
      <DropdownMenu.Item className={ITEM} onSelect={() => onPanel('Read by')}><Receipt className="size-4" />Read by</DropdownMenu.Item>
      {runId && <DropdownMenu.Item className={ITEM} onSelect={() => onPanel('Why')}><Question className="size-4" />Why</DropdownMenu.Item>}
      {runId && <DropdownMenu.Item className={ITEM} onSelect={() => inspect({ kind: 'run', id: runId })}><Eye className="size-4" />View run</DropdownMenu.Item>}
      {!direct && sender.id !== me.id && sender.type !== 'service' && <DropdownMenu.Item className={ITEM} onSelect={() => void openDirect(store, sender.id)}><Chat className="size-4" />Message {sender.name}</DropdownMenu.Item>}
    </>
  )
}

/** The newest message of a person before it is the user's. The server knows exactly, and refuses others. */
function isAnswerTo(me: string, answer: Message, history: History): boolean {
  return history.findLast((message) => message.seq < answer.seq && message.sender.type === 'human')?.sender.id === me
}
