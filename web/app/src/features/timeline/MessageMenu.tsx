import type { History, Message } from '@majlis/client'
import { useMajlis, useMe, useStore } from '@majlis/client/react'
import { DropdownMenu, Popover } from 'radix-ui'
import { useEffect, useState, type ReactNode } from 'react'

import { msg, t } from '../../language/words.ts'
import { addressOf, inspect, messagePath } from '../../router.ts'
import { editMessage } from '../composer/editMessage.ts'
import { openDirect } from '../spaces/openDirect.ts'
import { useMayWrite } from '../spaces/useMayWrite.ts'
import { copyText } from '../../ui/copy.ts'
import { Again, Chat, Copy, Eye, LinkIcon, Pencil, Pin, Question, Receipt, Trash } from '../../ui/icons.tsx'
import { inMain } from '../../ui/landmark.ts'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { toast } from '../../ui/toast.tsx'
import { deleteSoon } from './deletions.ts'
import { useReact } from './useReact.ts'

const Deliveries = lazyPart(() => import('../inspector/Deliveries.tsx'))
const Why = lazyPart(() => import('../inspector/Why.tsx'))

const PANELS = { read: msg('Read by'), why: msg('Why') }
type Panel = keyof typeof PANELS

const ITEM = 'flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 outline-none data-[highlighted]:bg-hover'
const PANEL = 'z-30 animate-rise rounded-lg border border-line bg-paper-high text-small shadow-high'

/** The menu of a message, open at first, and the panels that it leads to. */
export default function MessageMenu({ message, button, onOpenChange }: { message: Message; button: ReactNode; onOpenChange: (open: boolean) => void }) {
  const [menu, setMenu] = useState(true)
  const [panel, setPanel] = useState<Panel | null>(null)
  const mayWrite = useMayWrite(message.spaceId)
  const open = menu || panel !== null
  useEffect(() => onOpenChange(open), [open])
  return (
    <Popover.Root open={panel !== null} onOpenChange={(shown) => !shown && setPanel(null)}>
      <DropdownMenu.Root modal={false} open={menu} onOpenChange={setMenu}>
        <Popover.Anchor asChild><DropdownMenu.Trigger asChild>{button}</DropdownMenu.Trigger></Popover.Anchor>
        <DropdownMenu.Portal {...inMain()}>
          <DropdownMenu.Content align="end" sideOffset={4} collisionPadding={12} aria-label={t('Message actions')} className={`${PANEL} min-w-44 p-1.5`} onCloseAutoFocus={(event) => panel && event.preventDefault()}>
            <Items message={message} onPanel={setPanel} />
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      <Popover.Portal {...inMain()}>
        <Popover.Content align="end" sideOffset={6} collisionPadding={12} aria-label={panel ? t(PANELS[panel]) : ''} className={`${PANEL} w-72 p-3`}>
          {panel === 'why' ? <Why messageId={message.id} /> : <Deliveries messageId={message.id} mayWrite={mayWrite} />}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

const AT_HAND = ['👍', '❤️', '🎉', '👀', '✅', '🙏']

/** A small set at hand, in one row. */
function Picker({ message }: { message: Message }) {
  const react = useReact(message)
  return (
    <DropdownMenu.Group aria-label={t('React')} className="flex">
      {AT_HAND.map((emoji) => (
        <DropdownMenu.Item key={emoji} aria-label={t('React with {emoji}', { emoji })} className="cursor-pointer rounded-md p-1.5 outline-none data-[highlighted]:bg-hover" onSelect={() => react(emoji)}>{emoji}</DropdownMenu.Item>
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
  const copy = (text: string, done: string) => void copyText(text).then(() => toast(done), () => toast(t('Copying failed')))
  return (
    <>
      {mayWrite && !message.deletedAt && <Picker message={message} />}
      {own && mayWrite && changeable && <DropdownMenu.Item className={ITEM} onSelect={() => editMessage(message)}><Pencil className="size-4" />{t('Edit')}</DropdownMenu.Item>}
      {sender.type === 'agent' && runId && mayWrite && changeable && (answersMe || isAdmin) && <DropdownMenu.Item className={ITEM} onSelect={regenerate}><Again className="size-4" />{t('Regenerate')}</DropdownMenu.Item>}
      {mayWrite && changeable && <DropdownMenu.Item className={ITEM} onSelect={pin}><Pin className="size-4" />{message.pinned ? t('Unpin') : t('Pin')}</DropdownMenu.Item>}
      {message.text && <DropdownMenu.Item className={ITEM} onSelect={() => copy(message.text, t('Text copied'))}><Copy className="size-4" />{t('Copy text')}</DropdownMenu.Item>}
      <DropdownMenu.Item className={ITEM} onSelect={() => copy(addressOf(messagePath(message.spaceId, message.id)), t('Link copied'))}><LinkIcon className="size-4" />{t('Copy link')}</DropdownMenu.Item>
      <DropdownMenu.Item className={ITEM} onSelect={() => onPanel('read')}><Receipt className="size-4" />{t('Read by')}</DropdownMenu.Item>
      {runId && <DropdownMenu.Item className={ITEM} onSelect={() => onPanel('why')}><Question className="size-4" />{t('Why')}</DropdownMenu.Item>}
      {runId && <DropdownMenu.Item className={ITEM} onSelect={() => inspect({ kind: 'run', id: runId })}><Eye className="size-4" />{t('View run')}</DropdownMenu.Item>}
      {!direct && sender.id !== me.id && sender.type !== 'service' && <DropdownMenu.Item className={ITEM} onSelect={() => void openDirect(store, sender.id)}><Chat className="size-4" />{t('Message {name}', { name: sender.name })}</DropdownMenu.Item>}
      {(own || isAdmin) && changeable && <DropdownMenu.Item className={`${ITEM} text-bad`} onSelect={remove}><Trash className="size-4" />{asked ? t('Yes, delete message') : t('Delete')}</DropdownMenu.Item>}
    </>
  )
}

/** The newest message of a person before it is the user's. The server knows exactly, and refuses others. */
function isAnswerTo(me: string, answer: Message, history: History): boolean {
  return history.findLast((message) => message.seq < answer.seq && message.sender.type === 'human')?.sender.id === me
}
