#!/bin/sh
echo 12 m
