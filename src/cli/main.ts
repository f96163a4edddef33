#!/usr/bin/env node
import { useCompiledCode } from './compiled-code.js';
import { tuneEngine } from './engine.js';

tuneEngine();
useCompiledCode();
void import('./command-line.js');
