import { Store } from '@majlis/client'
import { MajlisProvider } from '@majlis/client/react'
import { createRoot } from 'react-dom/client'

import { App } from './App.tsx'
import { unsent } from './features/composer/unsent.ts'
import { wakeWith } from './features/connection/waking.ts'
import './styles/app.css'
import { showSavedTheme } from './theme.ts'
import { Guard } from './ui/Guard.tsx'

showSavedTheme()
const store = new Store({ keeping: unsent })
wakeWith(store)
createRoot(document.getElementById('root')!).render(
  <MajlisProvider store={store}>
    <Guard>
      <App />
    </Guard>
  </MajlisProvider>,
)
