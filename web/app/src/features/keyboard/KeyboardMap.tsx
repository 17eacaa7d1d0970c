import { t } from '../../language/words.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { KEYS } from './shortcuts.ts'

export default function KeyboardMap({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t('Keyboard shortcuts')} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2.5 p-5 pt-3">
        {KEYS.map(([keys, action]) => (
          <div key={keys} className="contents">
            <dt><kbd dir="ltr" className="rounded-sm border border-line bg-paper-low px-2 py-0.5 font-sans text-small">{keys}</kbd></dt>
            <dd>{t(action)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
