#!/usr/bin/env node
import { tuneEngine } from './engine.js';

if (process.argv[2] === 'serve') tuneEngine();
await import('./command-line.js');
